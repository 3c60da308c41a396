import {
  type ApprovalItem,
  askingItems,
  awaitsClient,
  beginFold,
  type FoldState,
  foldEvent,
  hasEnded,
  type ItemChange,
  isStateEvent,
  itemChanges,
  type LogEvent,
  outputText,
  type Transcript,
  transcriptOf,
  waitsForAnswer,
} from '@perdure/core'
import { isOpenApproval } from '@perdure/protocol'
import type { Frame, Projector } from '../projection.ts'
import { resultOf } from './call-result.ts'
import { approvalQuestion, inputQuestion, type Question, type QuestionDigest } from './elicitation.ts'
import type { Client } from './era.ts'
import type { RpcId } from './json-rpc.ts'

export interface CallView {
  readonly runId: string
  readonly requestId: RpcId
  readonly digest: QuestionDigest
  readonly client: Pick<Client, 'era' | 'elicits' | 'isPrimed' | 'progressToken'>
  /** Wraps a result as the version of the client demands. */
  readonly toResult: (result: object) => object
}

export interface CallProjector extends Projector {
  /** The result as far as the run has come, for a caller that stops waiting. */
  result(): readonly Frame[]
}

const RETRY_MS = 5_000
const MAX_PROGRESS_TEXT = 200

/** Shows a run as the answer to one tool call: progress, questions to the user, and the result. */
export function createCallProjector({ runId, requestId, digest, client, toResult }: CallView): CallProjector {
  const { era, elicits, progressToken } = client
  const asksInStream = elicits && era === 'legacy'
  let fold = beginFold(runId)
  let progress = 0

  const resultFrame = (transcript: Transcript): Frame =>
    message({ id: requestId, result: toResult(resultOf(transcript)) })

  const progressFrames = (changes: readonly ItemChange[]): readonly Frame[] => {
    if (progressToken === undefined) return []
    return changes.flatMap((change) => {
      const text = progressText(change)
      if (text === undefined) return []
      progress += 1
      const params = { progressToken, progress, message: text.slice(0, MAX_PROGRESS_TEXT) }
      return [message({ method: 'notifications/progress', params })]
    })
  }

  const newQuestions = (before: FoldState, event: LogEvent, changes: readonly ItemChange[]): readonly Question[] => {
    const asked = changes.flatMap(({ before: was, after }) => (was === undefined && isQuestion(after) ? [after] : []))
    const isPause = event.type === 'run.suspended' && before !== fold && waitsForAnswer(openTranscript(fold))
    const pause = isPause ? [pauseQuestion(transcriptOf(fold))] : []
    return [...asked.map(approvalQuestion), ...pause]
  }

  const questionFrame = (question: Question): Frame => ({
    ...elicitationFrame(digest, question),
    isUnanswered: () => openQuestions(openTranscript(fold)).some(({ id }) => id === question.id),
  })

  return {
    next(event) {
      if (isStateEvent(event)) return []
      const before = fold
      fold = foldEvent(before, event)
      if (fold === before) return []
      const changes = itemChanges(before.content.items, fold.content.items)
      const questions = asksInStream ? newQuestions(before, event, changes) : []
      const frames = [...progressFrames(changes), ...questions.map(questionFrame)]
      return hasEnded(fold) ? [...frames, resultFrame(transcriptOf(fold))] : frames
    },
    opening(of) {
      const priming = client.isPrimed ? [{ data: '', retryMs: RETRY_MS }] : []
      if (of === 'rest') return priming
      const transcript = transcriptOf(fold)
      if (hasEnded(fold)) return [...priming, resultFrame(transcript)]
      return [
        ...priming,
        ...(asksInStream ? openQuestions(transcript).map((one) => elicitationFrame(digest, one)) : []),
      ]
    },
    rest() {
      const transcript = transcriptOf(fold)
      if (!awaitsClient(transcript)) return undefined
      const questions = openQuestions(transcript)
      if (questions.length === 0 || !elicits) return [resultFrame(transcript)]
      return era === 'legacy'
        ? undefined
        : [message({ id: requestId, result: toResult(inputRequired(digest, runId, questions)) })]
    },
    result: () => [resultFrame(transcriptOf(fold))],
  }
}

const message = (members: object): Frame => ({ data: JSON.stringify({ jsonrpc: '2.0', ...members }) })

const elicitationFrame = (digest: QuestionDigest, { id, params }: Question): Frame =>
  message({ id, method: 'elicitation/create', params: params(digest) })

/**
 * The transcript of a run that has not ended, with no items but those that ask something: a run can have many others. A run
 * that waits for an answer to what it has said needs all of them.
 */
export function openTranscript(fold: FoldState): Transcript {
  const brief = { ...fold.run, items: askingItems(fold.content) }
  return waitsForAnswer(brief) ? transcriptOf(fold) : brief
}

/** What the run waits for that the user of the client can answer. */
export function openQuestions(transcript: Transcript): readonly Question[] {
  const pending = transcript.items.filter(isQuestion).map(approvalQuestion)
  return waitsForAnswer(transcript) ? [...pending, pauseQuestion(transcript)] : pending
}

const pauseQuestion = (transcript: Transcript): Question =>
  inputQuestion(transcript.runId, transcript.continuation, outputText({ ...transcript, result: undefined }))

/** Asks a client without a stream of its own: it repeats the call with the answers. */
const inputRequired = (digest: QuestionDigest, runId: string, questions: readonly Question[]): object => ({
  resultType: 'input_required',
  inputRequests: inputRequestsOf(digest, questions),
  requestState: runId,
})

export const inputRequestsOf = (digest: QuestionDigest, questions: readonly Question[]): object =>
  Object.fromEntries(questions.map(({ id, params }) => [id, { method: 'elicitation/create', params: params(digest) }]))

/** An approval that is assigned to staff or to a scope is not for the user of the client. */
const isQuestion = (item: ItemChange['after']): item is ApprovalItem =>
  item?.kind === 'approval' && isOpenApproval(item.status) && (item.assignee ?? 'user') === 'user'

/** Describes the text block or tool that begins or ends with the change; `undefined` for any other change. */
function progressText({ before, after }: ItemChange): string | undefined {
  if (after?.kind === 'text') {
    if (before === undefined) return 'writing'
    const wasOpen = before.kind === 'text' && before.isOpen
    return wasOpen && !after.isOpen && after.text !== '' ? after.text : undefined
  }
  if (after?.kind !== 'tool') return undefined
  const was = before?.kind === 'tool' ? before.status : undefined
  return was === after.status ? undefined : `${after.title ?? after.name}: ${after.status}`
}
