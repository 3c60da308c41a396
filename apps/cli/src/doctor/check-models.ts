import { existsSync } from 'node:fs'
import type { ServerConfig } from '@perdure/protocol'
import { type UnpricedModel, unpricedModels } from '@perdure/server-app/admin'
import type { LoadedConfig } from '../config/load-config.ts'
import { type Finding, ok, warn } from './finding.ts'

const FIX = 'set models.prices in the configuration'

/** Checks that the models of recent runs have prices, if costs are limited or prices are set. */
export async function checkModels(config: ServerConfig, loaded: LoadedConfig): Promise<Finding> {
  const limited = [...loaded.agents, ...loaded.workflows].filter(({ budget }) => budget?.costUsd !== undefined)
  const hasPrices = config.models.prices !== undefined || loaded.priceUsage !== undefined
  if (!hasPrices && limited.length === 0) return ok('models', 'no prices are set, so usage has no costs')
  if (!hasPrices) {
    const ids = limited.map(({ id }) => id).join(', ')
    return warn(
      'models',
      `budget.costUsd limits only costs that the code reports, because no model has a price: ${ids}`,
      FIX,
    )
  }
  const unpriced = await readUnpriced(config, loaded)
  if (unpriced.length === 0) return ok('models', 'every model that recent runs used has a price')
  const names = unpriced.map(({ provider, model, runId }) => `${provider}/${model} (${runId})`).join(', ')
  return warn('models', `recent runs used models without a price: ${names}`, FIX)
}

/** A storage that cannot be read is the finding of another check. */
async function readUnpriced(config: ServerConfig, loaded: LoadedConfig): Promise<readonly UnpricedModel[]> {
  const { kind, path } = config.storage
  if (kind === 'sqlite' && !existsSync(path)) return []
  try {
    const { configDir, adapters, priceUsage } = loaded
    return await unpricedModels(config, { configDir, adapters, ...(priceUsage === undefined ? {} : { priceUsage }) })
  } catch {
    return []
  }
}
