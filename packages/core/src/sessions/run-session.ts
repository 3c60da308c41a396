import {
  type Clock,
  EVERY_ROW,
  type IdGenerator,
  perdureError,
  type SessionChange,
  type SessionStore,
  toJsonText,
} from '@perdure/ports'
import { MessageRole, UpdateSessionRequest } from '@perdure/protocol'
import { checkMembers } from '../durable/check-options.ts'
import type { ServiceCaller } from '../durable/service-caller.ts'
import { isLongerThan } from '../json/json-members.ts'
import { titleLine } from './message-brief.ts'
import { messageWrites } from './message-writes.ts'
import { type BranchDeps, cutBranch, newestSeq, readBranch, toSessionMessage } from './read-branch.ts'
import { findSession } from './read-sessions.ts'
import type { SessionMessage } from './session-message.ts'
import { type MessageResource, type SessionResource, toSessionResource } from './session-resource.ts'
import { takenMessage } from './taken-message.ts'
import { changeSession } from './update-session.ts'

/** The session that a run belongs to. Every call is durable, like `ctx.step`. */
export interface RunSession {
  readonly id: string
  /**
   * Returns the newest messages of the conversation up to this run, in chronological order, with their texts, files and
   * tool calls. Turns that were edited or regenerated are not in it. `limit` defaults to 50 and is at most 200. With
   * `compacted`, they begin with the newest summary that a turn recorded with `compact`, in place of what it stands for.
   */
  messages(options?: { readonly limit?: number; readonly compacted?: boolean }): Promise<readonly SessionMessage[]>
  /**
   * Records what stands for the conversation so far, with the question of this run and what it has said, and returns it.
   * `messages({ compacted: true })` of this run and of later turns begins with it. `make` is executed once, like the code of a step.
   *
   * @throws PerdureError `step-failed` with what `make` throws, or when it returns nothing
   */
  compact<T>(make: () => T | PromiseLike<T>): Promise<T>
  /**
   * Appends a message exactly once. The input and the result of the run are added to the transcript automatically.
   *
   * @throws PerdureError `validation-failed`; `step-failed` if the session was deleted
   */
  append(role: 'user' | 'assistant', content: unknown): Promise<Omit<MessageResource, 'seq'>>
  /**
   * Takes the messages that users have sent to the session since this run started, in their order, so that this run answers them too.
   * At most 20 messages and 256 KiB; the rest, and what nobody takes, starts later turns.
   *
   * @param options with `steering`, only the messages whose `onBusy` is `'steer'`
   */
  takeMessages(options?: { readonly steering?: boolean }): Promise<readonly SessionMessage[]>
  /**
   * Sets the title that lists of chats show while nobody has named the chat: one line of at most 80 characters. Without
   * effect for a session that is no chat.
   *
   * @throws PerdureError the errors of `append`
   */
  suggestTitle(title: string): Promise<void>
  /** Sets the title, replaces the metadata, or both. @throws PerdureError the errors of `append` */
  update(change: SessionChange): Promise<SessionResource>
}

export interface RunSessionDeps extends BranchDeps {
  readonly sessions: SessionStore
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly maxResultBytes: number
}

const DEFAULT_MESSAGES = 50
const MAX_MESSAGES = 200

/** `ctx.session`; `undefined` for a run without a session. */
export function createRunSession(
  deps: RunSessionDeps,
  { run, step, transact, takeMessages }: ServiceCaller,
): RunSession | undefined {
  const { sessions, clock, ids, maxResultBytes } = deps
  const { id: runId, sessionId } = run
  if (sessionId === undefined) return undefined

  return {
    id: sessionId,
    async messages(options = {}) {
      checkMembers('ctx.session.messages', options, ['limit', 'compacted'])
      const { limit = DEFAULT_MESSAGES, compacted = false } = options
      if (!Number.isInteger(limit) || limit < 1 || limit > MAX_MESSAGES) {
        throw invalid(`limit: must be a whole number from 1 to ${MAX_MESSAGES}`)
      }
      const cut = await step('session.messages', () => cutBranch(deps, { runId, sessionId, maxTurns: limit }))
      // Recorded before the cut was recorded instead of the messages.
      if (Array.isArray(cut)) return cut.map(toSessionMessage)
      return readBranch(deps, cut, { sessionId, limit, isCompacted: compacted })
    },
    async compact(make) {
      let through = 0
      const summarize = async () => {
        const summary = await make()
        if (summary === undefined) throw invalid('compact: the function must return what stands for the conversation')
        through = await newestSeq(sessions, sessionId)
        return summary
      }
      return step('session.compact', summarize, {}, ({ seq }) => [
        { runId, sessionId, type: 'run.compacted', payload: toJsonText({ runId, seq, through }), at: clock.now() },
      ])
    },
    async takeMessages(options = {}) {
      checkMembers('ctx.session.takeMessages', options, ['steering'])
      return (await takeMessages(options.steering === true)).map((taken) => takenMessage(runId, taken))
    },
    async append(role, content) {
      if (!MessageRole.options.includes(role)) throw invalid(`role: must be one of ${MessageRole.options.join(', ')}`)
      const text = toJsonText(content)
      if (isLongerThan(text, maxResultBytes)) throw invalid(`content: must be at most ${maxResultBytes} bytes`)
      return transact('session.append', async () => {
        const message = { id: ids.newId('message'), sessionId, role, content: text, runId, createdAt: clock.now() }
        const { id, createdAt } = message
        return {
          writes: messageWrites(run, message),
          value: { id, role, content, runId, createdAt: new Date(createdAt).toISOString() },
          refuse: () => perdureError('session-not-found', { message: 'the session was deleted' }),
        }
      })
    },
    async suggestTitle(text) {
      const title = typeof text === 'string' ? titleLine(text) : ''
      if (title === '') throw invalid('title: must be a text with at least one character')
      return transact('session.title', async () => ({
        writes: [{ type: 'chat.change', sessionId, change: { title } }],
        value: undefined,
      }))
    },
    async update(change) {
      const checked = await checkedChange(change)
      return transact('session.update', async () => {
        const session = await findSession(sessions, sessionId, EVERY_ROW)
        const { changed, write, event } = changeSession(session, checked, clock.now())
        return { writes: [write], events: [event], value: toSessionResource(changed) }
      })
    },
  }
}

async function checkedChange(change: SessionChange): Promise<SessionChange> {
  const checked = await UpdateSessionRequest['~standard'].validate(change)
  if (checked.issues === undefined) return checked.value
  throw invalid(checked.issues.map(({ message, path }) => `${issuePath(path)}${message}`).join('; '))
}

const issuePath = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> = []) =>
  path.map((part) => `${String(typeof part === 'object' ? part.key : part)}: `).join('')

const invalid = (message: string) => perdureError('validation-failed', { message })
