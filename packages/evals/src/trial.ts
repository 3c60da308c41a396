import type { RunRecording } from '@perdure/core'
import type { Duration } from '@perdure/protocol'
import type { TestFile } from '@perdure/server-app/testing'

/** What a user does next in a chat. */
export type Turn =
  | string
  | { readonly send: string; readonly files?: readonly TestFile[] }
  | { readonly approve: string }
  | { readonly deny: string; readonly reason?: string }
  | { readonly edit: string }
  | { readonly regenerate: true }
  | { readonly advance: Duration }

/** What a simulated user sees. */
export interface ChatState {
  /** The number of turns so far. */
  readonly turn: number
  /** The text of the newest answer. */
  readonly text: string
  /** The tools whose calls wait for an approval. */
  readonly waitingFor: readonly string[]
  /** What user and agent have said so far, oldest first. */
  readonly said: readonly { readonly by: 'user' | 'agent'; readonly text: string }[]
}

/** Plays the user of a chat. `undefined` ends the chat. */
export type SimulatedUser = (state: ChatState) => Turn | undefined | Promise<Turn | undefined>

export type Decision = boolean | { readonly approved: boolean; readonly reason?: string }

/**
 * A situation to judge an agent in. With `turns` or `user`, it is a chat; otherwise it is one run with `input`.
 */
export interface EvalCase {
  /** Unique within the eval. */
  readonly id: string
  readonly input?: unknown
  /** What the user does, one after another. */
  readonly turns?: readonly Turn[]
  /** Continues the chat after `turns`. */
  readonly user?: SimulatedUser
  /** The most turns of a simulated user. Default 10. */
  readonly maxTurns?: number
  /** How approvals are decided, by the name of the approval or tool. Others stay open. */
  readonly decisions?: Readonly<Record<string, Decision>>
  /** What the case expects, for scorers. */
  readonly expected?: unknown
  /** The recorded runs that the case repeats, for example for `recordedModel`. */
  readonly recordings?: readonly RunRecording[]
  /** Scorers of this case, besides those of the eval. */
  readonly scorers?: readonly Scorer[]
}

/** What an agent did with a case. Scorers judge it. */
export interface Trial {
  readonly case: EvalCase
  /** The text of the last answer. */
  readonly text: string
  /** What the last run returned. */
  readonly result: unknown
  readonly status: string
  /** Why the last run failed, or what the page showed as an error. */
  readonly error?: string | undefined
  /** The calls of tools, in their order, also those that were denied. */
  readonly toolCalls: readonly ToolUse[]
  /** Decisions on approvals, in their order. */
  readonly decisions: readonly { readonly name: string; readonly decision: 'approved' | 'denied' | 'expired' }[]
  /** The approvals that nobody has decided, by their name or the name of their tool. */
  readonly waitingFor: readonly string[]
  readonly usage: TrialUsage
  /** The runs of the case, oldest first. */
  readonly recordings: readonly RunRecording[]
}

export interface ToolUse {
  readonly toolName: string
  readonly toolCallId: string
  readonly args: unknown
  readonly result?: unknown
  readonly error?: { readonly kind: string; readonly message: string }
  /** Whether the tool was executed; a denied call was not. */
  readonly executed: boolean
}

export interface TrialUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
}

/** What a scorer says about a trial. */
export interface Score {
  readonly pass: boolean
  /** A number from 0 to 1, for scorers that grade. */
  readonly value?: number
  /** Why, in one line. */
  readonly reason?: string
}

/** What the runner does for a scorer. */
export interface ScorerTools {
  /** Returns the recorded value of this key, or calls `ask` and records what it returns, so that it is paid for once. */
  recorded<T>(key: string, ask: () => Promise<T>): Promise<T>
  /** Counts what the scorer itself has used. */
  charge(usage: TrialUsage): void
}

export interface Scorer {
  /** Names the scorer in reports and thresholds; unique within an eval. */
  readonly name: string
  score(trial: Trial, tools: ScorerTools): Score | Promise<Score>
  /** Checks the scorer itself before it judges anything. Resolves with what is wrong with it. */
  check?(tools: ScorerTools): Promise<string | undefined>
}
