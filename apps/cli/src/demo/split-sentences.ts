export interface Sentence {
  readonly text: string // as written in the source, including line breaks
  readonly start: number // index in the source
}

const FENCE = /^\s*(?:```|~~~)/
/** Lines that are not prose: headings, tables, rules, lone tags, links and images. */
const STRUCTURE = /^\s*(?:#{1,6}\s|\||[-*_=]{3,}\s*$|<[^>]*>\s*$|!?\[[^\]]*\]\([^)]*\)\s*$)/
const LIST_MARK = /^\s*(?:[-*+]|\d{1,3}[.)])\s+/
/** Abbreviations whose full stop does not end a sentence. */
const ABBREVIATION =
  /(?:^|[\s("'])(?:[A-Za-z]|dr|mr|mrs|ms|prof|st|sr|jr|vs|cf|fig|no|vol|approx|e\.g|i\.e|z\.b|u\.a|bzw|ca|nr|[A-Z](?:\.[A-Z])+)\.$/i

/** Splits plain text or Markdown into sentences, skipping code blocks, headings and tables. */
export function splitSentences(source: string): readonly Sentence[] {
  const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })
  return paragraphs(source).flatMap((paragraph) => sentencesOf(paragraph, segmenter))
}

/** Blocks of consecutive prose lines; each list item starts a new block. */
function paragraphs(source: string): readonly Sentence[] {
  const found: { start: number; end: number }[] = []
  let isFenced = false
  let isOpen = false
  let at = 0
  for (const line of source.split('\n')) {
    const isFence = FENCE.test(line)
    if (isFence) isFenced = !isFenced
    const isProse = !isFence && !isFenced && line.trim() !== '' && !STRUCTURE.test(line)
    const mark = isProse ? (LIST_MARK.exec(line)?.[0].length ?? 0) : 0
    const last = found.at(-1)
    if (isProse && isOpen && mark === 0 && last !== undefined) last.end = at + line.length
    else if (isProse) found.push({ start: at + mark, end: at + line.length })
    isOpen = isProse
    at += line.length + 1
  }
  return found.map(({ start, end }) => ({ text: source.slice(start, end), start }))
}

/** Splits at Unicode sentence boundaries, except after abbreviations. */
function sentencesOf({ text: paragraph, start: offset }: Sentence, segmenter: Intl.Segmenter): readonly Sentence[] {
  const found: Sentence[] = []
  let start = 0
  let end = 0
  const close = () => {
    const text = paragraph.slice(start, end)
    const lead = text.length - text.trimStart().length
    if (text.trim() !== '') found.push({ text: text.trim(), start: offset + start + lead })
    start = end
  }
  for (const { segment, index } of segmenter.segment(paragraph.replaceAll('\n', ' '))) {
    end = index + segment.length
    if (!ABBREVIATION.test(segment.trimEnd())) close()
  }
  close()
  return found
}
