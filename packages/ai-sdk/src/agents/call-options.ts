import type { ModelMessage } from 'ai'
import { durableModel, type ModelSettings } from '../model/durable-model.ts'
import { type ModelLike, resolveModel } from '../model/model.ts'
import { retriesIn } from '../model/model-retry.ts'
import type { FindRun } from '../run.ts'
import { isFunction, isObject, type Options, type Sdk } from '../sdk.ts'
import type { ApprovalPolicy, StepState } from '../tools/approval-policy.ts'
import { declarationsOf } from '../tools/declaration.ts'
import { durableTools } from '../tools/durable-tools.ts'
import { withRepairs } from '../tools/invalid-calls.ts'
import type { Tools } from '../tools/tool.ts'
import type { Compaction } from './compaction.ts'
import { downloadIn } from './linked-files.ts'
import { refuseOptions } from './refuse-options.ts'
import { createStepPrompt, type StepPrompt } from './step-prompt.ts'
import type { Timeouts } from './timeouts.ts'

export interface CallScope {
  readonly sdk: Sdk
  readonly find: FindRun
  readonly timeouts: Timeouts
  /** Whether a transform changes the text, so that the stream that the run returns shows it. */
  readonly withoutText: boolean
  readonly compaction?: Compaction | undefined
}

/** The options of a call with a durable model, durable tools, and functions that bring in nothing else. */
export function durableOptions(scope: CallScope, options: Options): Options {
  refuseOptions(options)
  const { find, sdk, timeouts, withoutText, compaction } = scope
  const { model, tools, toolApproval, experimental_toolApprovalSecret: _, experimental_prepareStep, ...rest } = options
  const prepareStep = rest.prepareStep ?? experimental_prepareStep
  const state: StepState = { runtimeContext: options.runtimeContext, toolsContext: options.toolsContext }
  const settings: ModelSettings = {
    maxRetries: retriesIn(options.maxRetries),
    timeoutMs: timeouts.stepMs,
    chunks: timeouts.chunks,
    withoutText,
    declarations: declarationsOf(sdk, isObject(tools) ? (tools as Tools) : {}),
  }
  const durable = (one: unknown) =>
    durableModel(find, resolveModel<ModelLike>(one, 'languageModel', sdk.gateway), settings)
  const policy = toolApproval as ApprovalPolicy | undefined
  const toolSettings = { sdk, toolApproval: policy, state, timeoutMsOf: timeouts.toolMsOf }
  return {
    experimental_download: downloadIn(find),
    ...withRepairs(find, rest),
    model: durable(model),
    ...(isObject(tools) ? { tools: durableTools(find, tools as Tools, toolSettings) } : {}),
    prepareStep: preparing(prepareStep, { durable, state, stepPrompt: createStepPrompt({ find, compaction }) }),
  }
}

interface Preparing {
  readonly durable: (model: unknown) => ModelLike
  readonly state: StepState
  readonly stepPrompt: StepPrompt
}

/** Also keeps what a policy of a tool call is told about the step. */
function preparing(prepareStep: unknown, { durable, state, stepPrompt }: Preparing) {
  return async (given: Options): Promise<unknown> => {
    const messages = await stepPrompt.of(given.messages as readonly ModelMessage[], tokensUsed(given.steps))
    const step = messages === undefined ? given : { ...given, messages }
    const own = isFunction(prepareStep) ? await prepareStep(step) : undefined
    const prepared = messages === undefined ? own : { messages, ...(isObject(own) ? own : {}) }
    const changed = isObject(prepared) ? prepared : {}
    state.runtimeContext = changed.runtimeContext ?? step.runtimeContext
    state.toolsContext = changed.toolsContext ?? step.toolsContext
    return changed.model === undefined ? prepared : { ...changed, model: durable(changed.model) }
  }
}

/** How many tokens the newest step had, in its prompt and its answer. */
function tokensUsed(steps: unknown): number | undefined {
  const { usage } = (Array.isArray(steps) ? steps.at(-1) : undefined) ?? {}
  const { inputTokens, outputTokens } = isObject(usage) ? usage : {}
  return typeof inputTokens === 'number' ? inputTokens + Number(outputTokens ?? 0) : undefined
}
