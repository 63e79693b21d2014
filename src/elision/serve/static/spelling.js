// Whether what was typed is an event with a typing error, or means something else.

const SHORTEST = 5; // letters of a word that may have one wrong letter; shorter ones are often other words
const LONG = 9; // of one that may have two

export class Spelling {
  constructor(events) {
    this.words = new Set(events.flatMap(wordsOf));
  }

  /** Whether a line is an event but for typing errors in words that are not known otherwise. */
  isNearly(line, event) {
    const [typed, meant] = [wordsOf(line), wordsOf(event)];
    if (typed.join("") === meant.join("")) return true;
    return (
      typed.length === meant.length &&
      typed.every((word, at) => word === meant[at] || this.isTypo(word, meant[at]))
    );
  }

  isTypo(word, meant) {
    if (this.words.has(word)) return false;
    const most = meant.length >= LONG ? 2 : meant.length >= SHORTEST ? 1 : 0;
    return most > 0 && typos(word, meant) <= most;
  }
}

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Letters put in, left out, mistaken, or exchanged with their neighbour. */
function typos(one, other) {
  let [before, last] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1;
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + same);
      const exchanged = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (exchanged) row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    [before, last] = [last, row];
  }
  return last[other.length];
}
