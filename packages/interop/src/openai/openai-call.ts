import type {
  AbortRun,
  CreateSession,
  DeleteSession,
  Reply,
  ResumeRun,
  RunTargets,
  StartRun,
  UpdateSession,
} from '@perdure/core'
import type { IdGenerator, RunRecord, RunStore } from '@perdure/ports'
import type { AwaitedInputDeps } from '../chat/awaited-input.ts'
import type { OpenProjectedStream, ReadProjectedStream } from '../chat/chat-call.ts'
import type { ChatSessionDeps } from '../chat/chat-session.ts'
import type { FoldCache } from '../chat/fold-cache.ts'
import type { DecideDeps } from '../chat/pass-answers.ts'
import type { RunLogDeps } from '../chat/run-log.ts'
import type { StoredFilesDeps } from '../chat/stored-files.ts'
import type { ModelTarget } from './models.ts'

export interface OpenaiDeps extends ChatSessionDeps, DecideDeps, RunLogDeps, StoredFilesDeps {
  readonly foldCache: FoldCache
  readonly targets: RunTargets
  readonly registered: () => readonly ModelTarget[]
  readonly runs: RunStore
  readonly approvals: AwaitedInputDeps['approvals'] & DecideDeps['approvals']
  readonly ids: Pick<IdGenerator, 'newId'>
  readonly startRun: StartRun
  readonly resumeRun: ResumeRun
  readonly abortRun: AbortRun
  readonly createSession: CreateSession
  readonly updateSession: UpdateSession
  readonly deleteSession: DeleteSession
  readonly openProjectedStream: OpenProjectedStream
  readonly readProjectedStream: ReadProjectedStream
  readonly historyRuns: number
}

/** A run of which the client gets one segment. */
export interface AnsweringRun {
  readonly run: RunRecord
  readonly segment: number
  /** Whether an earlier request with the same key started the run. */
  readonly replayed?: boolean | undefined
  /** Whether the client can have received a part of the answer before. */
  readonly isRepeated?: boolean | undefined
}

/** What a request leads to: a segment of a run, or the answer of an earlier request whose run does not exist any more. */
export type Outcome = AnsweringRun | Reply

export const isReply = (outcome: Outcome): outcome is Reply => 'status' in outcome && !('run' in outcome)
