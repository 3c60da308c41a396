/** A fenced block of a guide. What follows the language says what becomes of it. */
export interface GuideBlock {
  /** Of its first line in the document. */
  readonly line: number
  readonly language: string
  readonly text: string
  /** `file=name`: what it is written to. */
  readonly file?: string | undefined
  /** `more=name`: what it is appended to. */
  readonly more?: string | undefined
  /** `server`: it is left running, as in a terminal of its own. */
  readonly isServer: boolean
  /** `stopped`: the server is stopped first. */
  readonly isStopped: boolean
  /** `skip="reason"`: why it is not executed. */
  readonly skip?: string | undefined
}

const FENCE = /^```(\w+)([^\n]*)\n(.*?)^```$/gms
const MARKS = /^(\s+(server|stopped|(file|more)=\S+|skip="[^"]+"))*\s*$/

/** The blocks of a document in order. @throws Error for a mark that means nothing */
export function guideBlocks(markdown: string): readonly GuideBlock[] {
  return [...markdown.matchAll(FENCE)].map(({ index, 1: language = '', 2: marks = '', 3: text = '' }) => {
    const line = markdown.slice(0, index).split('\n').length + 1
    if (!MARKS.test(marks)) throw new Error(`line ${line - 1}: unknown mark in "${language}${marks}"`)
    const markOf = (pattern: RegExp) => pattern.exec(marks)?.[1]
    const isMarked = (word: string) =>
      marks
        .replace(/skip="[^"]+"/, '')
        .split(' ')
        .includes(word)
    return {
      line,
      language,
      text,
      file: markOf(/file=(\S+)/),
      more: markOf(/more=(\S+)/),
      isServer: isMarked('server'),
      isStopped: isMarked('stopped'),
      skip: markOf(/skip="([^"]+)"/),
    }
  })
}

/** Whether all lines of an expected output are there, in order; `…` stands for anything within a line. */
export function missingLine(expected: string, output: string): string | undefined {
  const lines = output.split('\n').map((line) => line.trim())
  let next = 0
  for (const line of expected.trim().split('\n')) {
    const parts = line
      .trim()
      .split('…')
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    const pattern = new RegExp(`^${parts.join('.*')}$`)
    const found = lines.findIndex((candidate, index) => index >= next && pattern.test(candidate))
    if (found === -1) return line
    next = found + 1
  }
  return undefined
}

/** Identifiers of refusals that an output shows and the document never speaks of. */
export function unannouncedErrors(output: string, document: string): readonly string[] {
  const shown = [...output.matchAll(/"error":\s?"([A-Za-z-]+)"/g)].map(([, error = '']) => error)
  return [...new Set(shown)].filter((error) => !document.includes(error))
}
