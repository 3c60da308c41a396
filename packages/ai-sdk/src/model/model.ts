import { isFunction, isObject } from '../sdk.ts'

export interface ModelName {
  readonly provider: string
  readonly modelId: string
}

/** A language model of the AI SDK. */
export interface ModelLike extends ModelName {
  readonly specificationVersion: string
  doGenerate(options: CallOptions): PromiseLike<Generated>
  doStream(options: CallOptions): PromiseLike<{ readonly stream: AsyncIterable<Part> }>
}

/** An embedding model of the AI SDK. */
export interface EmbeddingModelLike extends ModelName {
  doEmbed(options: CallOptions): PromiseLike<Part>
}

export type Part = Readonly<Record<string, unknown>>

export interface CallOptions {
  /** The messages; spans have them only with `tracing.recordContent`. */
  readonly prompt?: unknown
  /** The texts of an embedding. */
  readonly values?: unknown
  readonly abortSignal?: AbortSignal | undefined
}

export interface Generated extends Part {
  readonly content: readonly Part[]
}

/** The model with this id at the default provider, as the SDK resolves it. */
export function resolveModel<Model>(model: unknown, kind: 'languageModel' | 'embeddingModel', gateway: unknown): Model {
  if (typeof model !== 'string') return model as Model
  const provider = (globalThis as { readonly AI_SDK_DEFAULT_PROVIDER?: unknown }).AI_SDK_DEFAULT_PROVIDER ?? gateway
  const make = isObject(provider) || isFunction(provider) ? (provider as unknown as Part)[kind] : undefined
  if (!isFunction(make)) throw new TypeError(`the default provider has no method ${kind} for ${JSON.stringify(model)}`)
  return make.call(provider, model) as Model
}
