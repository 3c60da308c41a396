import type { EvalCase } from './trial.ts'

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface Form {
  readonly expected: string
  isRight(value: unknown): boolean
}

const text: Form = { expected: 'a text', isRight: (value) => typeof value === 'string' && value !== '' }
const anything: Form = { expected: 'anything', isRight: () => true }

const TURNS = ['send', 'approve', 'deny', 'edit', 'regenerate', 'advance'] as const
/** What a turn may have besides the member that names its kind. */
const TURN_OPTIONS: Readonly<Record<string, readonly string[]>> = { send: ['files'], deny: ['reason'] }

function isTurn(turn: unknown): boolean {
  if (typeof turn === 'string') return true
  if (!isFields(turn)) return false
  const kinds = TURNS.filter((kind) => kind in turn)
  const [kind = ''] = kinds
  const known = [kind, ...(TURN_OPTIONS[kind] ?? [])]
  const isOfKind = kind === 'regenerate' ? turn.regenerate === true : ['string', 'number'].includes(typeof turn[kind])
  return kinds.length === 1 && isOfKind && Object.keys(turn).every((name) => known.includes(name))
}

const isDecision = (value: unknown): boolean =>
  typeof value === 'boolean' ||
  (isFields(value) &&
    typeof value.approved === 'boolean' &&
    ['undefined', 'string'].includes(typeof value.reason) &&
    Object.keys(value).every((name) => name === 'approved' || name === 'reason'))

const isListOf = (value: unknown, isRight: (one: unknown) => boolean): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(isRight)

const MEMBERS: { readonly [Name in keyof Required<EvalCase>]: Form } = {
  id: text,
  input: anything,
  turns: {
    expected: `a list of turns, each a text or an object with one of ${TURNS.join(', ')}`,
    isRight: (value) => isListOf(value, isTurn),
  },
  user: { expected: 'a function', isRight: (value) => typeof value === 'function' },
  maxTurns: { expected: 'a positive whole number', isRight: (value) => Number.isInteger(value) && Number(value) > 0 },
  decisions: {
    expected: 'an object of true, false or { approved, reason }, or of lists of them, by the name of the tool',
    isRight: (value) =>
      isFields(value) && Object.values(value).every((one) => isDecision(one) || isListOf(one, isDecision)),
  },
  expected: anything,
  recordings: { expected: 'a list of recordings', isRight: Array.isArray },
  scorers: {
    expected: 'a list of scorers',
    isRight: (value) => Array.isArray(value) && value.every((one) => isFields(one) && typeof one.score === 'function'),
  },
}

const NAMES = Object.keys(MEMBERS) as readonly (keyof EvalCase)[]

/**
 * Checks a case that may come from JSON or plain JavaScript.
 *
 * @param source where the case is, for the message
 * @throws Error that names the case, the member and what it must be
 */
export function checkCase(value: unknown, source: string): EvalCase {
  const problem = problemOf(value)
  if (problem === undefined) return value as EvalCase
  const id = isFields(value) && text.isRight(value.id) ? ` ${JSON.stringify(value.id)}` : ''
  throw new Error(`${source}: the case${id} ${problem}`)
}

function problemOf(value: unknown): string | undefined {
  if (!isFields(value)) return `must be an object, not ${shown(value)}`
  const unknown = Object.keys(value).find((name) => !(NAMES as readonly string[]).includes(name))
  if (unknown !== undefined) return `has an unknown member ${unknown}; a case has ${NAMES.join(', ')}`
  if (value.id === undefined) return 'has no id'
  const wrong = NAMES.find((name) => value[name] !== undefined && !MEMBERS[name].isRight(value[name]))
  if (wrong !== undefined) return `is invalid: ${wrong} must be ${MEMBERS[wrong].expected}, not ${shown(value[wrong])}`
  const isChat = value.turns !== undefined || value.user !== undefined
  return isChat && value.input !== undefined
    ? 'has input and turns: write turns for a chat, or input for a run'
    : undefined
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 120)
