import { utf8Length } from '@perdure/ports'
import { nameOfThrown, readThrown, textOfThrown } from './thrown-value.ts'

const MAX_BYTES = 8_192
const MAX_HEAD_LENGTH = 1_024
const MAX_READ_LENGTH = 65_536
const FIRST_FRAME = /^[ \t]+at /m
const CAUSED_BY = '\ncaused by '

/**
 * The stacks of a thrown value and of its causes as one text of at most 8 KiB. In each stack, the frames of the user's
 * code come first. Frames of the platform, of installed packages and of Perdure are dropped if the text is too long.
 *
 * @returns undefined if none of the values has a stack
 */
export function stackText(chain: readonly unknown[]): string | undefined {
  const traces = chain.map(traceOf)
  if (traces.every(({ frames }) => frames.length === 0)) return undefined
  const whole = traces.map(({ head, own, frames }) => lines(head, [...own, ...without(frames, own)])).join(CAUSED_BY)
  if (utf8Length(whole) <= MAX_BYTES) return whole
  return withinBytes(traces.map(({ head, own, frames }) => lines(head, own.length > 0 ? own : frames)).join(CAUSED_BY))
}

/** Splits a text of `stackText` into the stacks of the value and of its causes. */
export const splitStackText = (text: string): readonly string[] => text.split(CAUSED_BY)

/** The frames of the user's code in a stack, as they are written there. */
export const ownFrames = (stack: string): readonly string[] => stack.split('\n').filter(isOwnFrame)

interface Trace {
  readonly head: string
  readonly frames: readonly string[]
  readonly own: readonly string[]
}

function traceOf(thrown: unknown): Trace {
  const { stack } = readThrown(thrown, ['stack'])
  const text = typeof stack === 'string' ? stack.slice(0, MAX_READ_LENGTH) : ''
  const start = text.search(FIRST_FRAME)
  if (start === -1) return { head: headOf(`${nameOfThrown(thrown)}: ${textOfThrown(thrown)}`), frames: [], own: [] }
  const frames = text
    .slice(start)
    .split('\n')
    .filter((line) => FIRST_FRAME.test(line))
  return { head: headOf(text.slice(0, start).trimEnd()), frames, own: frames.filter(isOwnFrame) }
}

const headOf = (text: string) => (text.length > MAX_HEAD_LENGTH ? `${text.slice(0, MAX_HEAD_LENGTH - 1)}…` : text)

const lines = (head: string, frames: readonly string[]) => [head, ...frames].join('\n')

const without = (all: readonly string[], some: readonly string[]) => all.filter((one) => !some.includes(one))

function withinBytes(text: string): string {
  let short = text
  while (utf8Length(short) > MAX_BYTES) short = short.slice(0, Math.floor(short.length * 0.9))
  return short.length === text.length ? text : short.slice(0, Math.max(short.lastIndexOf('\n'), MAX_HEAD_LENGTH))
}

/** Matches `at run (file:///srv/triage.ts:12:40)`, but not `at new Promise (<anonymous>)`. */
const LOCATION = /:\d+:\d+\)?$/
const INSTALLED = /[\\/]node_modules[\\/]|[ (]node:/

/** The folders of Perdure when it runs from a clone; everywhere else it is in `node_modules`. */
const PERDURE = foldersOfClone(decodeURI(import.meta.url))

function foldersOfClone(url: string): readonly string[] {
  const at = url.search(/\/(?:packages|apps)\/[^/]+\/(?:src|dist)\//)
  if (at === -1) return []
  const root = url.slice('file://'.length, at)
  return [`${root}/packages/`, `${root}/apps/`]
}

function isOwnFrame(frame: string): boolean {
  return LOCATION.test(frame) && !INSTALLED.test(frame) && !PERDURE.some((folder) => frame.includes(folder))
}
