import type { Kind } from './actions.fixture.ts'

/**
 * What page and prompt of a conversation must contain, as lines: `u` for a text of the user, `f` for a file, `a` for an
 * answer, `c` for a tool call and `r` for its result. It follows from what users have done, and from nothing that the
 * server has answered.
 */

export interface Message {
  readonly text: string
  /** The text in its file. */
  readonly file: string | undefined
}

export interface Turn {
  /** Those that were taken together; the last one decides what the agent does. */
  readonly messages: readonly Message[]
  readonly kind: Kind
  readonly steering: readonly Message[]
  readonly outcome: 'answered' | 'waiting' | 'denied' | 'stopped'
}

export const userLines = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap(({ text, file }) => [`u ${text}`, ...(file === undefined ? [] : [`f ${file}`])])

const answerOf = ({ messages, steering }: Turn): string => `a re: ${[...messages, ...steering].at(-1)?.text}`

/** A question that is open when its turn is stopped counts as denied. */
const resultOf = ({ outcome, kind }: Turn): string => {
  if (outcome === 'answered') return 'r json'
  return outcome === 'denied' || (outcome === 'stopped' && kind === 'pay') ? 'r execution-denied' : 'r error-text'
}

/** What each call of the model in the turn sees of the turn. */
export function callsOf(turn: Turn): readonly (readonly string[])[] {
  const asked = userLines(turn.messages)
  if (turn.kind === 'plain') return [asked]
  if (turn.outcome === 'waiting' || turn.outcome === 'stopped') return [asked]
  return [asked, [...asked, `c ${turn.kind}`, resultOf(turn), ...userLines(turn.steering)]]
}

/** What the prompt of a later turn has of this one. */
export function promptOf(turn: Turn): readonly string[] {
  const asked = userLines(turn.messages)
  if (turn.kind === 'plain') return [...asked, answerOf(turn)]
  const called = [...asked, `c ${turn.kind}`, resultOf(turn)]
  if (turn.outcome === 'waiting' || turn.outcome === 'stopped') return called
  return [...called, ...userLines(turn.steering), answerOf(turn)]
}

export function pageOf(turn: Turn): readonly string[] {
  const asked = userLines(turn.messages)
  if (turn.kind === 'plain') return [...asked, answerOf(turn)]
  const called = [...asked, `c ${turn.kind}`]
  if (turn.outcome === 'waiting' || turn.outcome === 'stopped') return called
  return [...called, ...userLines(turn.steering), answerOf(turn)]
}
