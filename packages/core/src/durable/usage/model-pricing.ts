import type { Logger } from '@perdure/ports'
import type { ModelPrice, ModelPrices } from '@perdure/protocol'
import type { UsageReport } from './usage-report.ts'

/** Returns the cost of a model call in US dollars, or `undefined` if it has no price for the model. */
export type PriceUsage = (usage: UsageReport) => number | undefined

/** Turns the tokens of model calls into costs. */
export interface Pricing {
  /**
   * The report with its cost. A cost that the report has is kept.
   *
   * @param isLimited whether a budget in dollars applies, so that a missing price is a problem
   */
  price(report: UsageReport, isLimited: boolean): UsageReport
}

export interface PricingOptions {
  readonly prices?: ModelPrices | undefined
  /** Takes the place of `prices`. */
  readonly priceUsage?: PriceUsage | undefined
  readonly logger: Logger
}

export const HOW_TO_PRICE = 'set models.prices in the configuration'

/** A server does not use more models than this; code that invents names must not fill the log. */
const MAX_REPORTED = 100

export function createPricing({ prices, priceUsage = pricesOf(prices), logger }: PricingOptions): Pricing {
  const reported = new Set<string>()
  const isPriced = prices !== undefined || priceUsage !== noPrice

  const costOf = (report: UsageReport): number | undefined => {
    try {
      const cost = priceUsage(report)
      return typeof cost === 'number' && cost >= 0 && Number.isFinite(cost) ? cost : undefined
    } catch (error) {
      once(`error ${nameOf(report)}`, () => logger.error('models.prices failed', error, labels(report)))
      return undefined
    }
  }

  const once = (key: string, report: () => void) => {
    if (reported.has(key) || reported.size >= MAX_REPORTED) return
    reported.add(key)
    report()
  }

  return {
    price(report, isLimited) {
      if (report.costUsd !== undefined || tokensIn(report) === 0) return report
      const costUsd = costOf(report)
      if (costUsd !== undefined) return { ...report, costUsd }
      if (isPriced || isLimited) {
        once(nameOf(report), () =>
          logger.warn('a model has no price: its usage counts as 0 USD', { ...labels(report), hint: HOW_TO_PRICE }),
        )
      }
      return report
    },
  }
}

const noPrice: PriceUsage = () => undefined

/** The function that a table of prices stands for. */
export function pricesOf(prices: ModelPrices | undefined): PriceUsage {
  if (prices === undefined) return noPrice
  return (usage) => {
    const price = findPrice(prices, usage)
    return price === undefined ? undefined : costAt(price, usage)
  }
}

/** Providers name the version of a model by its date; the price of the model applies to each version. */
const DATED = /-\d{4}-?\d{2}-?\d{2}$/

function findPrice(prices: ModelPrices, { provider, model }: UsageReport): ModelPrice | undefined {
  const undated = model.replace(DATED, '')
  const names = [`${provider}/${model}`, model, `${provider}/${undated}`, undated]
  const name = names.find((one) => Object.hasOwn(prices, one))
  return name === undefined ? undefined : prices[name]
}

function costAt(
  { inputUsdPerMillion, outputUsdPerMillion, cachedInputUsdPerMillion = inputUsdPerMillion }: ModelPrice,
  { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0 }: UsageReport,
): number {
  const cached = Math.min(cachedInputTokens, inputTokens)
  const millionths =
    (inputTokens - cached) * inputUsdPerMillion + cached * cachedInputUsdPerMillion + outputTokens * outputUsdPerMillion
  return millionths / 1_000_000
}

const tokensIn = ({ inputTokens = 0, outputTokens = 0 }: UsageReport): number => inputTokens + outputTokens

const nameOf = ({ provider, model }: UsageReport): string => `${provider}/${model}`

const labels = ({ provider, model }: UsageReport) => ({ provider, model })
