import type { RunContext } from '@perdure/core'
import { durableOptions } from './agents/call-options.ts'
import { generatedResult, hasOutput, streamedResult } from './agents/call-result.ts'
import { withCallbacks } from './agents/callbacks.ts'
import { createConversation } from './agents/conversation.ts'
import { durableAgentClass } from './agents/durable-agent-class.ts'
import { callSignal, timeoutsOf } from './agents/timeouts.ts'
import type { Durable } from './durable-types.ts'
import { durableEmbedding } from './model/durable-embedding.ts'
import { durableModel } from './model/durable-model.ts'
import { type EmbeddingModelLike, type ModelLike, resolveModel } from './model/model.ts'
import { guardModelCalls } from './model/model-calls.ts'
import { MAX_RETRIES, retriesIn } from './model/model-retry.ts'
import { findRunOf } from './run.ts'
import type { Options, Sdk } from './sdk.ts'
import { NO_TOOLS } from './tools/declaration.ts'
import { durableTools } from './tools/durable-tools.ts'
import { withInvalidCalls } from './tools/invalid-calls.ts'
import type { Tools } from './tools/tool.ts'

type Call = (options: Options) => object
type AsyncCall = (options: Options) => Promise<object>

/** Makes `durable` for one version of the SDK. */
export function createDurable(sdk: Sdk): (ctx?: RunContext) => Durable {
  return (ctx) => {
    const find = findRunOf(ctx)
    guardModelCalls()

    /** The options of one call of `streamText` or `generateText`. */
    const prepared = (options: Options, answering: { readonly isStreamed: boolean; readonly withoutText: boolean }) => {
      const { timeout, ...rest } = options
      const { withoutText } = answering
      const timeouts = timeoutsOf(timeout, answering)
      return {
        ...withInvalidCalls(find, withCallbacks(find, durableOptions({ sdk, find, timeouts, withoutText }, rest))),
        abortSignal: callSignal(find, options.abortSignal, timeouts.totalMs),
        ...(timeouts.sdk === undefined ? {} : { timeout: timeouts.sdk }),
      }
    }

    const streamText: Call = (options) => {
      const withoutText = options.experimental_transform !== undefined
      // The error of the run says what failed; by default the SDK prints it.
      const quiet = { onError: () => undefined, ...options }
      const streamed = (sdk.streamText as unknown as Call)(prepared(quiet, { isStreamed: true, withoutText }))
      return streamedResult(streamed, { hasOutput: hasOutput(options), withoutText })
    }

    const generateText: AsyncCall = async (options) => {
      const generated = await (sdk.generateText as unknown as AsyncCall)(
        prepared(options, { isStreamed: false, withoutText: false }),
      )
      return generatedResult(generated, { hasOutput: hasOutput(options) })
    }

    const embedding =
      (call: unknown): AsyncCall =>
      (options) => {
        const model = resolveModel<EmbeddingModelLike>(options.model, 'embeddingModel', sdk.gateway)
        const durable = durableEmbedding(find, model, { maxRetries: retriesIn(options.maxRetries) })
        const abortSignal = callSignal(find, options.abortSignal, undefined)
        return (call as AsyncCall)({ ...options, model: durable, abortSignal })
      }

    const durable = {
      streamText,
      generateText,
      embed: embedding(sdk.embed),
      embedMany: embedding(sdk.embedMany),
      ToolLoopAgent: durableAgentClass(sdk, find),
      ...createConversation(sdk, find),
      model: (model: unknown) =>
        durableModel(find, resolveModel<ModelLike>(model, 'languageModel', sdk.gateway), {
          maxRetries: MAX_RETRIES,
          withoutText: false,
          declarations: NO_TOOLS,
        }),
      tools: (tools: Tools) =>
        durableTools(find, tools, { sdk, toolApproval: undefined, state: {}, timeoutMsOf: () => undefined }),
    }
    return durable as unknown as Durable
  }
}
