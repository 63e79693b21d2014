"""Word lists of the sentence parser: closed classes, and habits that WordNet does not tell."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# --- closed classes ---------------------------------------------------------------------------

DETERMINERS = _words(
    """a an the this that these those some any each every all both another no either neither much
    many several few more most enough other such various additional"""
)
POSSESSIVES = _words("my your his her its our their whose ur")
NUMBERS = _words(
    """one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty
    fifty sixty ninety hundred thousand"""
)
SUBJECT_PRONOUNS = _words(
    """i you u ya he she it we they who someone somebody everyone everybody nobody something
    everything there ur im ive youre theyre hes shes"""
)
OBJECT_PRONOUNS = _words(
    """me you u him her it us them em this that these those myself yourself yourselves himself
    herself itself ourselves themselves one someone somebody everyone everybody anyone anybody
    something everything anything nothing none each all both mine yours hers ours theirs others
    another some any more most many few several other"""
)
PREPOSITIONS = _words(
    """to into in on onto at from with without for of off over under by about around through
    throughout across along up down near inside outside behind between among against toward towards
    upon within past via beside beneath below above underneath like per during before after until
    till since atop alongside out w/ w/o thru than as"""
)
# Prepositions that say where a thing is: "cake in oven" needs no verb.
PLACES = _words("in on at under over near beside behind around")
OPENERS = _words(
    """when whenever once after before if while as until till since because unless although though
    upon"""
)
SUBORDINATORS = OPENERS | _words("""whether so that where wherever why how what which who whom
    cuz whats thats""")
CONJUNCTIONS = _words("and or but nor & then /")
MODALS = _words(
    """will would shall should can could may might must ca wo 'll 'd gonna wanna gotta cannot ought
    cant wont"""
)
NEGATIONS = _words("not n't never dont don didnt doesnt")
BE = _words("be am is are was were been being 's 're 'm")
HAVE = _words("have has had having 've")
DO = _words("do does did")
ADVERBS = _words(
    """then next first firstly second secondly third thirdly finally lastly last now again also
    please just always too very really quite almost already still soon afterwards afterward later
    eventually meanwhile maybe perhaps instead here there everywhere somewhere anywhere upstairs
    downstairs indoors outdoors abroad today tomorrow yesterday tonight ever even only right
    straight simply well etc ok okay anyway otherwise therefore usually sometimes often so once
    twice upside pls plz"""
)

# --- particles --------------------------------------------------------------------------------

# Particles wherever they stand, also before a noun phrase.
FREE_PARTICLES = _words("off out up down away back together aside apart")
# Particles only where no noun phrase of their own follows.
BARE_PARTICLES = _words("on in over around through along forward ahead")
PARTICLES = FREE_PARTICLES | BARE_PARTICLES
# Verbs with which these are particles before a noun phrase too.
PARTICLE_VERBS = {
    "on": _words("put turn switch try get hop pull slip throw strap power flip flick slap snap"),
    "in": _words(
        """plug turn hand fill type tuck reel let get hop punch key fold stir mix rub send call
        dial bring take trade blend whisk draw breathe"""
    ),
}

# Verbs after which "of" is a misspelt "off".
OFF_VERBS = _words("turn switch shut take")

# --- verbs that stand before the verb that counts ----------------------------------------------

BEFORE_TO = _words(
    """want like need have plan decide try manage remember forget start begin continue prepare
    intend hope wish love prefer attempt proceed go come suppose agree mean"""
)
BEFORE_ING = _words("start begin keep continue finish try stop go resume")
BEFORE_AND = _words("go come try")
CAUSATIVES = _words("let allow have get want need like")
CAUSATIVES_WITH_TO = _words("allow want need like")
SURE = _words("sure certain")

# Oftener nouns in texts, but verbs where a clause begins.
ACTIONS = _words(
    """place board exit park step plug order sign hand lather brush frost stack rent spray patch
    heat grease type head figure line flag view test taste plan change answer request
    exchange store share load blow comb thread rest shop toast hammer nail glue tape dust
    vacuum mop rake shovel season signal point bowl dream"""
)
# Verbs without an object of their own: in "sit and eat lunch", lunch belongs to the second only.
INTRANSITIVES = _words(
    """sit stand wait go come walk lie sleep relax leave stop enter exit arrive rest stay return run
    kneel bend rise wake swim dance drive travel jump turn lean breathe smile wave laugh cry"""
)

# "watch the kids play": what is perceived is the doer.
PERCEPTIONS = _words("watch see hear feel help notice")

# What these say of somebody or something is no event.
STATES = _words(
    """be seem appear feel think know believe hope like love hate prefer guess suppose wonder mean
    own belong cost deserve doubt fear regret wish want need matter resemble contain consist depend
    exist smell sound dislike mind trust understand realize realise expect care worry"""
)

# Verbs that say little by themselves.
LIGHT = _words(
    """go get put use take have make do set place find tell give bring keep come move step let look
    need want be start finish begin try turn ask receive obtain"""
)

# --- objects ----------------------------------------------------------------------------------

# Verbs that take a recipient before the object.
DITRANSITIVES = _words(
    """give hand tell show offer bring buy send pass teach pay serve get make read ask lend order
    owe feed cook pour throw toss write sing find fetch grab wish promise award grant mail email
    text leave save loan sell deal"""
)
# "check that the door is shut": the thing asked about is the object.
CHECKING = _words("check see ensure verify confirm test determine notice know")
# "cup of coffee": the content is the object.
CONTAINERS = _words(
    """bag barrel basket bottle bowl box bucket can canister carton case crate cup flask glass jar
    jug keg kettle mug pack package packet pail pan pitcher plate pot sack tin tank tray tub tube
    vase wheelbarrow
    armful bucketful capful cupful dab dash dollop dose drizzle drop gallon gram gulp handful inch
    kilo kilogram lb liter litre mouthful ounce oz pat pinch pint pound quart scoop sip spoon
    spoonful splash squirt tablespoon tbsp teaspoon tsp
    amount ball bar bit bite block bunch chunk clove coat coating copy couple crumb cube half head
    helping hunk kind layer length loaf lot majority number piece portion quantity quarter
    remainder rest roll scrap serving sheet slice sort spool sprig stalk stick strip ton type
    variety
    assortment batch bouquet bundle cluster collection deck dozen flock group heap herd load pair
    pile row selection series set stack string crowd team bale clump"""
)
# Places that stand for what they are of when bare: "in front of the house".
SIDES = _words("front top")
# Measures that need no "of": "1 tbsp chopped cilantro".
MEASURES = _words("tsp tbsp teaspoon tablespoon cup oz ounce lb pound gram inch clove")
TIME_NOUNS = _words(
    """minute hour second day week month year morning afternoon evening night noon midnight dawn
    dusk moment while time o'clock weekend today tomorrow tonight sunrise sunset am pm monday
    tuesday wednesday thursday friday saturday sunday january february april june july august
    september october november december min mins hr hrs sec secs bit"""
)
# Verbs whose object may be a time all the same.
ABOUT_TIME = _words(
    """spend check ask tell set choose pick schedule waste save enjoy have know note watch see"""
)
PLURAL_ONLY = _words(
    """scissors jeans pants trousers shorts sunglasses goggles pajamas pyjamas tights leggings
    clothes pliers tweezers tongs binoculars overalls shears clippers sweatpants slacks underpants
    dungarees thanks suds groceries"""
)

# --- corrections of WordNet ---------------------------------------------------------------------

# Pasts that are also base forms of rarer verbs.
PASTS = {
    "found": "find",
    "felt": "feel",
    "saw": "see",
    "fell": "fall",
    "ground": "grind",
    "wound": "wind",
    "bound": "bind",
}
# Names that are verbs too.
NAMES = _words(
    """bill bob chase chuck clay dale dawn drew faith frank glen grace grant hope hunter jack jimmy
    josh joy lance mark mike nick pat peg pierce ray rob rose skip sue tony trace wade"""
)
# Verbs whose past looks like their base form.
UNCHANGED_PASTS = _words(
    """put set cut read hit let shut spread split hurt cast bet quit burst run come become shed slit
    knit wet fit beat bid wed"""
)
NEVER_VERBS = _words("home")
# Verbs that WordNet 3.0 does not have.
NEW_VERBS = _words("text google email uber defrost reheat preheat prep photoshop skype facetime")

OPENING_NOUN_PHRASES = DETERMINERS | POSSESSIVES | NUMBERS
AUXILIARIES = MODALS | BE | HAVE | DO
CLOSED = (
    OPENING_NOUN_PHRASES
    | SUBJECT_PRONOUNS
    | OBJECT_PRONOUNS
    | PREPOSITIONS
    | SUBORDINATORS
    | CONJUNCTIONS
    | AUXILIARIES
    | NEGATIONS
    | ADVERBS
    | PARTICLES
)


OPPOSITE_PARTICLES = """
on off
in out
up down
"""

OPPOSITE_VERBS = """
add remove
arrive leave
ascend descend
attach detach
board leave
buy sell
close open
cool heat
empty fill
enter exit
enter leave
fasten loosen
fold unfold
freeze thaw
give take
insert remove
lift lower
load unload
lock unlock
open shut
pack unpack
place remove
plug unplug
pull push
put remove
put take
raise lower
screw unscrew
sit stand
start finish
start stop
begin finish
begin stop
begin end
tie untie
wake sleep
wet dry
wrap unwrap
zip unzip
dress undress
button unbutton
buckle unbuckle
"""


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    pairs = [line.split() for line in text.split("\n") if line]
    return frozenset((a, b) for a, b in pairs) | frozenset((b, a) for a, b in pairs)


_PARTICLES = _pairs(OPPOSITE_PARTICLES)
_VERBS = _pairs(OPPOSITE_VERBS)


def opposite_particles(first: str, second: str) -> bool:
    """Say whether two particles are opposites.

    Examples
    --------
    >>> opposite_particles("off", "on"), opposite_particles("off", "out")
    (True, False)
    """
    return (first, second) in _PARTICLES


def opposite_verbs(first: str, second: str) -> bool:
    """Say whether two verbs are opposites.

    Examples
    --------
    >>> opposite_verbs("open", "close"), opposite_verbs("open", "lock")
    (True, False)
    """
    return (first, second) in _VERBS
