import { isChunk } from '../model-parts/stream-part.ts'
import { sanitizeText } from '../realtime/sanitize.ts'

/** A run as a case of `perdure eval`, in the form that `casesFromFiles` reads. */
export interface KeptCase {
  readonly id: string
  readonly input?: unknown
  /** What the user said in the session, up to the run. */
  readonly turns?: readonly string[]
  readonly decisions?: CaseDecisions
  readonly expected?: string
}

/** Decisions by the name of the approval or tool: one for all its approvals, or a list in their order. */
export type CaseDecisions = Readonly<Record<string, boolean | readonly boolean[]>>

export interface NamedDecision {
  readonly name: string
  readonly isApproved: boolean
}

export function caseDecisions(decided: readonly NamedDecision[]): CaseDecisions {
  const byName = Map.groupBy(decided, ({ name }) => name)
  return Object.fromEntries(
    [...byName].map(([name, all]) => {
      const made = all.map(({ isApproved }) => isApproved)
      const [first = false] = made
      return [name, made.every((one) => one === first) ? first : made]
    }),
  )
}

/** The input with each text once: chats have the text of the newest message beside the messages. */
export function caseInput(input: unknown): unknown {
  if (!isChunk(input) || typeof input.text !== 'string' || !Array.isArray(input.messages)) return input
  const { text, messages, ...others } = input
  return isOnly(text, messages) ? { text, ...others } : { messages, ...others }
}

/** Whether the messages are one message of a user with this text and nothing else. */
function isOnly(text: unknown, messages: readonly unknown[]): boolean {
  const [message, ...others] = messages
  if (others.length > 0 || !isChunk(message) || message.role !== 'user' || !Array.isArray(message.content)) return false
  const [part, ...more] = message.content
  return more.length === 0 && isChunk(part) && part.type === 'text' && part.text === text
}

const SECRET_NAME =
  /^(?:password|passwd|pwd|passphrase|secret|client[-_]?secret|token|(?:access|refresh|id|auth)[-_]?token|api[-_]?key|(?:access|private)[-_]?key|authorization|cookie)$/i

/**
 * The value with credentials, keys, connection strings and e-mail addresses redacted in all of its texts, and with every text and
 * number below a member with the name of a secret.
 */
export const redactContent = (value: unknown): unknown => redacted(value, false)

const HIDDEN = '[redacted:credential]'

function redacted(value: unknown, isSecret: boolean): unknown {
  if (typeof value === 'string') return isSecret ? HIDDEN : sanitizeText(value)
  if (typeof value === 'number') return isSecret ? HIDDEN : value
  if (Array.isArray(value)) return value.map((one) => redacted(one, isSecret))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [
    sanitizeText(name),
    redacted(member, isSecret || SECRET_NAME.test(name)),
  ])
  return Object.fromEntries(members)
}
