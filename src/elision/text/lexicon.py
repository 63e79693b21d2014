"""Word lists of the sentence parser: closed classes, and habits of verbs that WordNet lacks."""

from __future__ import annotations

__all__: list[str] = []


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# --- closed classes ---------------------------------------------------------------------------

DETERMINERS = _words(
    """a an the this that these those some any each every all both another no either neither much
    many several few more most enough other such half various additional certain"""
)
POSSESSIVES = _words("my your his her its our their whose thy ur yr")
NUMBERS = _words(
    """one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty
    fifty sixty ninety hundred thousand dozen once twice"""
)
SUBJECT_PRONOUNS = _words("i you u he she it we they who someone somebody everyone everybody nobody")
OBJECT_PRONOUNS = _words(
    """me you u him her it us them this that these those myself yourself yourselves himself herself
    itself ourselves themselves one ones someone somebody everyone everybody anyone anybody
    something everything anything nothing none each all both mine yours hers ours theirs other
    others another some any more most any rest em thing things"""
)
PREPOSITIONS = _words(
    """to into in on onto at from with without for of off over under by about around through
    throughout across along up down near inside outside behind between among against toward towards
    upon within past via beside besides beneath below above underneath like per during before after
    until till since amid atop alongside next till out w onto opposite"""
)
SUBORDINATORS = _words(
    """when whenever once after before if while as until till since because unless although though
    whether so that where wherever why how what which who whom whose cause"""
)
OPENERS = _words(
    "when whenever once after before if while as until since because unless although though upon"
)
CONJUNCTIONS = _words("and or but nor & then plus")
MODALS = _words(
    """will would shall should can could may might must ca wo 'll 'd gonna wanna gotta hafta cannot
    ought better"""
)
NEGATIONS = _words("not n't never no")
FORMS_OF_BE = _words("be am is are was were been being 's 're 'm")
FORMS_OF_HAVE = _words("have has had having 've")
FORMS_OF_DO = _words("do does did")
ADVERBS = _words(
    """then next first firstly second secondly third thirdly finally lastly last now again also
    please just always too very really quite almost already still soon afterwards afterward later
    eventually meanwhile maybe perhaps instead once twice here there everywhere somewhere anywhere
    upstairs downstairs indoors outdoors abroad overseas today tomorrow yesterday tonight ever even
    only right straight simply well together so as etc ok okay anyway otherwise therefore usually
    sometimes often kindly after that up"""
) - _words("after that up together")
SENTENCE_OPENING_NOUNS = _words("step steps tip note")

# --- particles --------------------------------------------------------------------------------

# Particles wherever they stand, also before a noun phrase.
FREE_PARTICLES = _words("off out up down away back together aside apart forward")
# Particles only where no noun phrase of their own follows.
BARE_PARTICLES = _words("on in over around through along by across past round about under")
# Verbs with which `on` and `in` are particles even before a noun phrase.
VERBS_WITH_ON = _words(
    """put turn switch try get hop pull slip throw strap power have flip click-on log sign squirt-on
    slap lace flick snap clip carry"""
)
VERBS_WITH_IN = _words(
    """plug turn hand fill type tuck reel let get hop punch key enter-in fold stir mix rub send call
    dial bring take check log cash trade phase pencil blend whisk beat work draw suck breathe key
    colour color tie tune zip bag"""
)
OFF_MISSPELT_AFTER = _words("turn switch shut take log cut get")

# --- verbs that stand before the verb that counts ----------------------------------------------

BEFORE_TO = _words(
    """want like need have plan decide try manage remember forget start begin continue prepare
    intend hope wish love prefer attempt proceed get go use suppose choose promise agree mean
    expect ought learn aim happen stop"""
) - _words("stop get choose use")
BEFORE_ING = _words("start begin keep continue finish try stop go resume commence")
BEFORE_AND = _words("go come try")
# Verb, noun phrase, then the verb that counts.
CAUSATIVES = _words("let allow have get")
# "get dressed": the participle is what happens.
AFTER_GET = _words("dressed undressed changed washed cleaned seated married started redressed")

# --- objects ----------------------------------------------------------------------------------

DITRANSITIVES = _words(
    """give hand tell show offer bring buy send pass teach pay serve get make read ask lend order
    owe feed cook pour throw toss write sing find fetch grab fix wish promise award grant mail
    email text leave save loan sell quote deal"""
)
# Verbs that ask whether something is so: what counts is the thing asked about.
CHECKING = _words("check see ensure verify confirm test wait determine notice make know think")
# "cup of coffee": the content counts.
CONTAINERS = _words(
    """cup glass bottle bowl bag box can carton jar mug pot pan plate bucket basket packet pack
    package tin tube tray barrel crate sack pitcher jug keg case vial canister pail tub cone scoop
    spoon spoonful teaspoon tablespoon tsp tbsp cupful handful mouthful bite sip drop dash pinch
    splash drizzle squirt dab dollop pat knob quart pint gallon liter litre ounce oz pound lb gram
    kilo kilogram inch foot yard mile amount quantity quarter half third
    piece slice bit chunk strip sheet loaf bar block ball cube stick clove head
    stalk sprig bunch cluster pile stack heap load layer coat coating roll spool skein ream wad
    pair set couple number lot deal group bundle batch dozen ton variety selection
    series rest remainder remains majority portion part share kind type sort form brand flock herd
    team crowd deck pack collection assortment serving helping round length bouquet row line stream
    puff book copy stub swig gulp shot swarm hunk crumb scrap swipe dose capful armful plateful
    bowlful bucketful cartful truckload carload wheelbarrow thermos flask kettle basketful"""
) - _words("line book part row")
TIME_NOUNS = _words(
    """minute hour second day week month year morning afternoon evening night noon midnight dawn
    dusk moment while time o'clock weekend weekday today tomorrow tonight sunrise sunset am pm
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december min mins hr hrs sec secs bit
    fortnight decade spring summer autumn winter bedtime"""
) - _words("march may spring bit")
TAKES_TIME = _words("spend check ask tell set choose pick schedule waste save enjoy have take know note")
PLURAL_ONLY = _words(
    """scissors jeans pants trousers shorts glasses-on sunglasses goggles pajamas pyjamas tights
    leggings clothes pliers tweezers tongs binoculars overalls headphones-x stairs-x shears
    clippers sweatpants slacks knickers underpants chopsticks-x thanks goods suds groceries
    dungarees panties boxers spectacles earbuds-x headquarters suspenders"""
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
    "left": "leave",
    "rode": "ride",
    "wore": "wear",
}
# Verbs whose past looks like their base form.
UNCHANGED_PASTS = _words(
    "put set cut read hit let shut spread split hurt cast bet quit burst run come become shed slit"
)
# Verbs that are younger than WordNet 3.0, or are missing from it.
NEW_VERBS = _words("text google email uber defrost reheat preheat unfriend photoshop venmo unsubscribe facetime skype")
