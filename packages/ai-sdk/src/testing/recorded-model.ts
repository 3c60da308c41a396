import { describeRequest, type ModelRequest, type RecordedModelCall, requestDifference } from '@perdure/core'
import type { CallOptions, ModelLike } from '../model/model.ts'
import { type DivergenceOptions, divergenceError, type RunDivergence } from './divergence.ts'
import { modelOf } from './model-of-answers.ts'
import { recordedAnswer } from './recorded-answer.ts'
import { type RecordingSource, readRecording } from './recording-source.ts'
import { type Answer, answerParts, type ScriptedAnswer } from './scripted-answer.ts'

export interface RecordedModelOptions extends DivergenceOptions {
  /**
   * `position` (default) gives the answers in the order of the run. `request` gives the answer to the same request,
   * whatever the order; it needs a run that recorded its requests.
   */
  readonly match?: 'position' | 'request'
  /** The model that the code uses now: its name is compared, and `onDivergence: 'real'` asks it. */
  readonly model?: object
  /** The answer of `onDivergence: 'stub'`. */
  readonly stub?: ScriptedAnswer
}

/** A language model of the AI SDK, version 6 or 7. Its type needs no installed SDK. */
export interface RecordedModel {
  readonly specificationVersion: 'v3'
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls: Record<string, RegExp[]>
  doGenerate(options: never): Promise<never>
  doStream(options: never): Promise<never>
  /** Where the code has asked for something else so far. */
  readonly divergences: readonly RunDivergence[]
  /** How many recorded answers were not asked for. */
  readonly unused: number
}

/**
 * A language model that gives the answers of a recorded run, without a call of a provider. A request that differs from the
 * recorded one is named with the first place where it does.
 *
 * @param runs the runs of a conversation, in their order, or a single run
 */
export function recordedModel(
  runs: RecordingSource | readonly RecordingSource[],
  options: RecordedModelOptions = {},
): RecordedModel {
  const recordings = (Array.isArray(runs) ? runs : [runs]).map(readRecording)
  const left = recordings.flatMap(({ calls }) => calls.filter((call) => call.kind === 'model'))
  const first = left.find(({ request }) => request !== undefined)?.request
  const real = options.model as ModelLike | undefined
  const name = {
    provider: real?.provider ?? first?.provider ?? 'recorded',
    modelId: real?.modelId ?? first?.model ?? 'recorded',
  }
  checkOptions(options, left)
  const divergences: RunDivergence[] = []

  const take = (call: CallOptions): RecordedModelCall | RunDivergence => {
    const requestTo = ({ request }: RecordedModelCall): ModelRequest => {
      const asked =
        real === undefined && request !== undefined ? { provider: request.provider, modelId: request.model } : name
      return describeRequest(asked, call)
    }
    const differenceFrom = (recorded: RecordedModelCall) =>
      recorded.request === undefined ? undefined : requestDifference(recorded.request, requestTo(recorded))
    const next = left[0]
    if (next === undefined) return { part: 'end', detail: 'the code asks the model more often than the run did' }
    const same = left.findIndex((recorded) => recorded.request !== undefined && differenceFrom(recorded) === undefined)
    const difference = differenceFrom(next)
    if (difference === undefined) return left.shift() as RecordedModelCall
    const other = left[same]
    if (other === undefined) return { seq: next.seq, ...difference }
    if (options.match === 'request') return left.splice(same, 1)[0] as RecordedModelCall
    return { seq: next.seq, part: 'order', detail: `the code asks what the recorded call ${other.seq} asks` }
  }

  const answerTo = (call: CallOptions): Answer | 'real' => {
    const taken = take(call)
    if ('kind' in taken) return recordedAnswer(taken)
    divergences.push(taken)
    options.onDiverged?.(taken)
    const { onDivergence = 'stop', stub } = options
    // The recorded answers stay in step with the calls of the code.
    if (onDivergence !== 'stop') left.shift()
    if (onDivergence === 'real') return 'real'
    if (onDivergence === 'stub' && stub !== undefined)
      return answerParts(stub, { turn: divergences.length - 1, inputWords: 0 })
    throw divergenceError(taken)
  }

  return modelOf(name, {
    answerTo,
    real,
    more: {
      divergences,
      get unused() {
        return left.length
      },
    },
  })
}

function checkOptions(
  { match, onDivergence, model, stub }: RecordedModelOptions,
  calls: readonly RecordedModelCall[],
): void {
  const isUnknown = calls.some(({ request }) => request === undefined)
  if (match === 'request' && isUnknown) {
    throw new Error("the run has no record of its requests, so match: 'request' is not possible; use 'position'")
  }
  if (onDivergence === 'real' && model === undefined) throw new Error("onDivergence: 'real' needs the option model")
  if (onDivergence === 'stub' && stub === undefined) throw new Error("onDivergence: 'stub' needs the option stub")
}
