import type { ObservedRuns, RecordedUsage, RunRecording, Score, ScorerSource, ScorerTools } from '@perdure/core'
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
  /**
   * How approvals are decided, by the name of the approval or tool: one decision for all of them, or a list in their order. Others
   * stay open.
   */
  readonly decisions?: Readonly<Record<string, Decision | readonly Decision[]>>
  /** What the case expects, for scorers such as `similarText()`. */
  readonly expected?: unknown
  /** The recorded runs that the case repeats, for example for `recordedModel`. */
  readonly recordings?: readonly RunRecording[]
  /** Scorers of this case, besides those of the eval. */
  readonly scorers?: readonly Scorer[]
}

/** What an agent did with a case. Scorers judge it. */
export interface Trial extends ObservedRuns {
  readonly case: EvalCase
  /** The text of the last answer. */
  readonly text: string
  /** What the last run returned. */
  readonly result: unknown
  readonly status: string
  /** Why the last run failed, or what the page showed as an error. */
  readonly error?: string | undefined
  /** The approvals that nobody has decided, by their name or the name of their tool. */
  readonly waitingFor: readonly string[]
}

export type TrialUsage = RecordedUsage
export type { Score, ScorerSource, ScorerTools, ToolUse } from '@perdure/core'

export interface Scorer {
  /** Names the scorer in reports and thresholds; unique within an eval. */
  readonly name: string
  /** What the scorer reads of a trial. Default: unknown, so everything. */
  readonly reads?: readonly ScorerSource[]
  score(trial: Trial, tools: ScorerTools): Score | Promise<Score>
  /** Checks the scorer itself before it judges anything. Resolves with what is wrong with it. */
  check?(tools: ScorerTools): Promise<string | undefined>
}
