/** A fenced block of a guide. The words after the language say how it is processed. */
export interface GuideBlock {
  /** Line number of its first line in the document. */
  readonly line: number
  readonly language: string
  readonly text: string
  /** `file=name`: the block is written to this file. */
  readonly file?: string | undefined
  /** `more=name`: the block is appended to this file. */
  readonly more?: string | undefined
  /** `template=path`: the block shows this file of `packages/create-perdure/templates`. */
  readonly template?: string | undefined
  /** `server`: the block keeps running in the background, as in a second terminal. */
  readonly isServer: boolean
  /** `stopped`: the running server is stopped before the block runs. */
  readonly isStopped: boolean
  /** `skip="reason"`: the block is not executed, for this reason. */
  readonly skip?: string | undefined
}

const FENCE = /^```(\w+)([^\n]*)\n(.*?)^```$/gms
const MARKS = /^(\s+(server|stopped|(file|more|template)=\S+|skip="[^"]+"))*\s*$/

/** Returns the blocks of a document in order. @throws Error for an unknown mark */
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
      template: markOf(/template=(\S+)/),
      isServer: isMarked('server'),
      isStopped: isMarked('stopped'),
      skip: markOf(/skip="([^"]+)"/),
    }
  })
}

/** Returns the first expected line that does not appear in the output in order; `…` matches anything within a line. */
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

/** Returns the error identifiers in an output that the document does not mention. */
export function unannouncedErrors(output: string, document: string): readonly string[] {
  const shown = [...output.matchAll(/"error":\s?"([A-Za-z-]+)"/g)].map(([, error = '']) => error)
  return [...new Set(shown)].filter((error) => !document.includes(error))
}
