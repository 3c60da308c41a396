import type { FindRun } from '../run.ts'
import { isFunction, type Options, type Sdk } from '../sdk.ts'
import { withInvalidCalls } from '../tools/invalid-calls.ts'
import { durableOptions } from './call-options.ts'
import { generatedResult, hasOutput, streamedResult } from './call-result.ts'
import { withCallbacks } from './callbacks.ts'
import type { Compaction } from './compaction.ts'
import { callSignal, type Timeouts, timeoutsOf } from './timeouts.ts'

/** What one call of the agent passes to `prepareCall`, through the SDK. */
interface Call {
  readonly timeouts: Timeouts
  readonly withoutText: boolean
}

const NO_TIMEOUTS = timeoutsOf(undefined, { isStreamed: true })

const CALL: unique symbol = Symbol.for('perdure.agent-call') as never

/** The setting that shortens the prompts of an agent. */
export const COMPACTION: unique symbol = Symbol.for('perdure.compaction') as never

/** What passes through the SDK together with its own options. */
interface Internal {
  readonly [CALL]?: Call
  readonly [COMPACTION]?: Compaction | undefined
}

interface SdkAgent {
  generate(options: Options): Promise<object>
  stream(options: Options): Promise<object>
}

interface Answering {
  readonly isStreamed: boolean
  readonly withoutText: boolean
}

type AgentClass = new (settings: Options) => SdkAgent

/** The class `ToolLoopAgent`, whose agents call models and tools durably. */
export function durableAgentClass(sdk: Sdk, find: FindRun): Sdk['ToolLoopAgent'] {
  const Base = sdk.ToolLoopAgent as unknown as AgentClass

  /** Wraps the settings for each call, because an agent may serve several runs. */
  const preparing = (prepareCall: unknown) => async (base: Options) => {
    const { [CALL]: call, [COMPACTION]: compaction, ...given } = base as Options & Internal
    const prepared = (isFunction(prepareCall) ? await prepareCall(given) : undefined) ?? given
    const { timeout: _, ...options } = prepared as Options
    const { timeouts = NO_TIMEOUTS, withoutText = false } = call ?? {}
    return durableOptions({ sdk, find, timeouts, withoutText, compaction }, options)
  }

  class DurableAgent extends Base {
    readonly #timeout: unknown
    readonly #hasOutput: boolean

    constructor(settings: Options) {
      const durable = { ...settings, prepareCall: preparing(settings.prepareCall) }
      super(withInvalidCalls(find, withCallbacks(find, durable)))
      this.#timeout = settings.timeout
      this.#hasOutput = hasOutput(settings)
    }

    #options(given: Options, { isStreamed, withoutText }: Answering): Options {
      const timeouts = timeoutsOf(given.timeout ?? this.#timeout, { isStreamed })
      const call: Call = { timeouts, withoutText }
      const options = withCallbacks(find, given)
      const abortSignal = callSignal(find, given.abortSignal, timeouts.totalMs)
      return { ...options, abortSignal, timeout: timeouts.sdk, [CALL]: call } as Options
    }

    override async generate(options: Options): Promise<object> {
      const generated = await super.generate(this.#options(options, { isStreamed: false, withoutText: false }))
      return generatedResult(generated, { hasOutput: this.#hasOutput })
    }

    override async stream(options: Options): Promise<object> {
      const withoutText = options.experimental_transform !== undefined
      const streamed = await super.stream(this.#options(options, { isStreamed: true, withoutText }))
      return streamedResult(streamed, { hasOutput: this.#hasOutput, withoutText })
    }
  }
  return DurableAgent as unknown as Sdk['ToolLoopAgent']
}
