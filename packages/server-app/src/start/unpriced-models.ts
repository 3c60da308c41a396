import { type PriceUsage, pricesOf } from '@perdure/core'
import { EVERY_ROW, fromJsonText, type Storage } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import type { ServerOptions } from '../server-options.ts'
import { createPlatform } from './adapters.ts'
import { openReader } from './check-runs.ts'
import { validateBeforeBind } from './pre-bind.ts'

/** A model that recent runs have used at no cost, because it has no price. */
export interface UnpricedModel {
  readonly provider: string
  readonly model: string
  /** A run that has used it. */
  readonly runId: string
}

type Context = Pick<ServerOptions, 'configDir' | 'adapters' | 'priceUsage'>

const RUNS = 100
const EVENTS = { after: 0, limit: 1_000, maxLength: 4_194_304 }

/**
 * The models of the newest runs for which there is no price. Reads the storage, beside a running server, and writes nothing.
 *
 * @throws StartError if the storage cannot be opened
 */
export async function unpricedModels(config: ServerConfig, context: Context = {}): Promise<readonly UnpricedModel[]> {
  const { configDir = process.cwd(), adapters = {}, priceUsage = pricesOf(config.models.prices) } = context
  const secrets = await validateBeforeBind(config, createPlatform(config, configDir, adapters))
  const storage = adapters.storage ?? (await openReader({ config, configDir }, secrets))
  try {
    return await findUnpriced(storage, priceUsage)
  } finally {
    if (adapters.storage === undefined) await storage.close()
  }
}

async function findUnpriced({ runs, events }: Storage, priceUsage: PriceUsage): Promise<readonly UnpricedModel[]> {
  const { items } = await runs.list({}, { limit: RUNS, order: 'desc', content: [] }, EVERY_ROW)
  const found = new Map<string, UnpricedModel>()
  // The usage of a run includes that of its children, which have events of their own.
  const candidates = items.filter(({ usage }) => usage.inputTokens + usage.outputTokens > 0)
  for (const { id: runId } of candidates) {
    for (const { type, payload } of await events.read({ runId }, EVENTS)) {
      if (type !== 'usage') continue
      const usage = fromJsonText(payload) as { provider: string; model: string; costUsd: number; inputTokens: number }
      const { provider, model, costUsd, ...tokens } = usage
      if (costUsd > 0 || isPriced(priceUsage, { provider, model, ...tokens })) continue
      found.set(`${provider}/${model}`, { provider, model, runId })
    }
  }
  return [...found.values()]
}

function isPriced(priceUsage: PriceUsage, usage: Parameters<PriceUsage>[0]): boolean {
  try {
    return priceUsage(usage) !== undefined
  } catch {
    return false
  }
}
