import type { ChatRegistration } from '../agents/chat-types.ts'
import type { Part } from '../model/model.ts'

/** A session of a `HarnessAgent`. */
export interface HarnessSession {
  /** Whether a turn has to be continued before the session takes another message. */
  hasUnfinishedTurn(): boolean
}

/** The answer to a request for approval that ended a slice of a turn. */
export interface HarnessDecision {
  readonly type: 'tool-approval-response'
  readonly approvalId: string
  readonly approved: boolean
  readonly reason?: string
}

interface TurnOptions<Session> {
  readonly session: Session
  readonly abortSignal: AbortSignal
}

/** A `HarnessAgent` of `@ai-sdk/harness`. */
export interface HarnessAgentLike<Session extends HarnessSession = HarnessSession> {
  readonly id: string | undefined
  readonly harnessId: string
  readonly hasOutput: boolean
  readonly tools: object
  createSession(options?: { readonly sessionId?: string }): PromiseLike<Session>
  // The SDK types the messages and options of a call by the agent.
  // biome-ignore lint/suspicious/noExplicitAny: what this package passes is checked at run time by the agent
  stream(options: any): PromiseLike<object>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  continueStream(options: any): PromiseLike<object>
}

/** What the turn of a harness returns. */
export interface HarnessResult {
  readonly stream: AsyncIterable<Part>
  readonly text: PromiseLike<string>
  readonly output: PromiseLike<unknown>
}

/** How the server calls a `HarnessAgent`. */
export interface HarnessCalls<Session> {
  stream(
    options: TurnOptions<Session> & { readonly messages: readonly unknown[]; readonly options?: unknown },
  ): PromiseLike<HarnessResult>
  continueStream(
    options: TurnOptions<Session> & { readonly toolApprovalContinuations: readonly HarnessDecision[] },
  ): PromiseLike<HarnessResult>
}

interface OpenCall {
  /** The id of the chat; without a chat, that of the run. It is the same in every turn. */
  readonly sessionId: string
}

/** The options of a registration, and how the session of a chat lasts from turn to turn. */
export interface HarnessRegistration<Session extends HarnessSession> extends Partial<ChatRegistration<string>> {
  /** Opens the session: a new one, or with the state that `closeSession` has stored. */
  readonly openSession: (call: OpenCall & { readonly abortSignal: AbortSignal }) => PromiseLike<Session>
  /**
   * Ends the use of the session, by its method `detach`, `stop` or `destroy`. The state that `detach` and `stop` return is a
   * secret: store it where no client reads it. Called after each turn, after a failed one with its error, and before a person
   * is asked.
   */
  readonly closeSession: (session: Session, call: OpenCall & { readonly error?: unknown }) => PromiseLike<unknown>
}
