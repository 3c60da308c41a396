import type { StreamPart } from '../model-parts/stream-part.ts'
import type { CallScope } from './call-scope.ts'

type Kind = 'text' | 'reasoning'

/** One answer of a model that is in the log. */
export interface LoggedAnswer {
  note(part: StreamPart): void
}

/** What durable models have written to the log of this execution's run, so that showing it again adds nothing. */
export interface LoggedAnswers {
  /** Begins an answer. An answer that came `whole` is repeated only by its whole text, a streamed one by its pieces. */
  begin(form: 'whole' | 'streamed'): LoggedAnswer
  /** Whether the log has this text, as the next piece of what was repeated before. */
  repeatsText(of: Kind, text: string): boolean
  /** Whether the log has what this part shows or counts. */
  repeats(part: StreamPart): boolean
}

interface Segment {
  readonly of: Kind
  readonly form: 'whole' | 'streamed'
  text: string
}

/** A place in a segment up to which its text has been repeated. */
interface Place {
  readonly segment: Segment
  readonly offset: number
}

function createLoggedAnswers(): LoggedAnswers {
  const segments: Segment[] = []
  const places: Record<Kind, readonly Place[]> = { text: [], reasoning: [] }
  const others = new Map<string, number>()
  const toolCalls = new Set<string>()

  const starts = (of: Kind): readonly Place[] =>
    segments.filter((segment) => segment.of === of).map((segment) => ({ segment, offset: 0 }))
  const after = (text: string, from: readonly Place[]): readonly Place[] =>
    from.flatMap(({ segment, offset }) => {
      const isNext = segment.form === 'whole' ? segment.text === text : segment.text.startsWith(text, offset)
      return isNext ? [{ segment, offset: offset + text.length }] : []
    })

  const repeatsText = (of: Kind, text: string): boolean => {
    if (text === '') return false
    const continued = after(text, places[of])
    const next = continued.length > 0 ? continued : after(text, starts(of))
    places[of] = next
    return next.length > 0
  }

  const takeOther = (key: string): boolean => {
    const count = others.get(key) ?? 0
    if (count > 0) others.set(key, count - 1)
    return count > 0
  }

  const noteOther = (part: StreamPart) => {
    if (part.kind === 'tool-start' || part.kind === 'tool-call') toolCalls.add(part.id)
    if (part.kind !== 'part' && part.kind !== 'usage') return
    const key = keyOf(part)
    others.set(key, (others.get(key) ?? 0) + 1)
  }

  const newSegment = (of: Kind, form: Segment['form']): Segment => {
    const segment = { of, form, text: '' }
    segments.push(segment)
    return segment
  }

  return {
    begin(form) {
      const own: Partial<Record<Kind, Segment>> = {}
      return {
        note(part) {
          if (part.kind !== 'delta') return noteOther(part)
          const segment = own[part.of] ?? newSegment(part.of, form)
          own[part.of] = segment
          segment.text += part.delta
        },
      }
    },
    repeatsText,
    repeats(part) {
      switch (part.kind) {
        case 'delta':
          return repeatsText(part.of, part.delta)
        case 'tool-start':
        case 'tool-delta':
        case 'tool-call':
        case 'tool-result':
          return toolCalls.has(part.id)
        case 'part':
        case 'usage':
          return takeOther(keyOf(part))
        default:
          return false
      }
    },
  }
}

function keyOf(part: Extract<StreamPart, { readonly kind: 'part' | 'usage' }>): string {
  if (part.kind === 'usage') return 'usage'
  const { url, data, name, mediaType, title } = part.payload as Readonly<Record<string, unknown>>
  return JSON.stringify([
    part.type,
    url,
    typeof data === 'string' ? [data.length, data.slice(0, 64)] : data,
    name,
    mediaType,
    title,
  ])
}

const answers = new WeakMap<CallScope, LoggedAnswers>()

/** The answers that durable models of this execution have logged. */
export function loggedAnswersOf(scope: CallScope): LoggedAnswers {
  const known = answers.get(scope) ?? createLoggedAnswers()
  answers.set(scope, known)
  return known
}

/** `undefined` unless a durable model has been called. */
export const knownAnswersOf = (scope: CallScope): LoggedAnswers | undefined => answers.get(scope)

/** A registered symbol, because a model can come from another copy of this package. */
export const LOGGED_ANSWERS: unique symbol = Symbol.for('perdure.logged-answers') as never

/** The answers logged by the run with this context. */
export const answersIn = (context: object): LoggedAnswers =>
  (context as { readonly [LOGGED_ANSWERS]?: LoggedAnswers })[LOGGED_ANSWERS] ?? createLoggedAnswers()
