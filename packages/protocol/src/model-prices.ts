import * as v from 'valibot'
import { strictObject } from './plain-object.ts'

const usd = v.pipe(v.number(), v.finite(), v.minValue(0))

/** Prices of a model in US dollars per million tokens. */
export const ModelPrice = strictObject({
  inputUsdPerMillion: usd,
  outputUsdPerMillion: usd,
  /** For input tokens that the provider reads from its cache; as `inputUsdPerMillion` when missing. */
  cachedInputUsdPerMillion: v.optional(usd),
})
export type ModelPrice = v.InferOutput<typeof ModelPrice>

/** Prices by the id of the model, or by provider and id: `openai/gpt-5-mini`. */
export const ModelPrices = v.record(v.string(), ModelPrice)
export type ModelPrices = v.InferOutput<typeof ModelPrices>
