import { basename } from 'node:path'
import type { Logger } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { createServer } from '@perdure/server-app'
import type { LoadedConfig } from '../config/load-config.ts'
import { type Finding, failFrom, ok, warn } from './finding.ts'

/** Runs the server's own validation: registrations, conflicting settings and every secret reference. */
export async function checkStart(config: ServerConfig, loaded: LoadedConfig): Promise<readonly Finding[]> {
  const warnings: string[] = []
  const {
    agents,
    workflows,
    triggers,
    skills,
    mcpServers,
    webhookEndpoints,
    hooks,
    adapters,
    embedder,
    priceUsage,
    consolidator,
    configDir,
  } = loaded
  try {
    const server = await createServer({
      config,
      agents,
      workflows,
      triggers,
      skills,
      mcpServers,
      webhookEndpoints,
      configDir,
      consolidator,
      ...(hooks === undefined ? {} : { hooks }),
      ...(embedder === undefined ? {} : { embedder }),
      ...(priceUsage === undefined ? {} : { priceUsage }),
      adapters: { ...adapters, logger: collector(warnings) },
    })
    await server.check()
  } catch (error) {
    return [...warnings.map(toWarning), failFrom('secrets', error, 'fix the configuration')]
  }
  return [...warnings.map(toWarning), secretsFinding(config)]
}

function secretsFinding({ auth }: ServerConfig): Finding {
  if (auth.kind === 'none') return warn('secrets', 'auth.kind is none: anyone who can reach the port has full access')
  if (basename(auth.pepperRef ?? '') !== 'dev-pepper') return ok('secrets', 'the pepper resolves and is long enough')
  return warn(
    'secrets',
    'only perdure dev has a pepper; perdure server needs one of its own',
    'before you start perdure server: perdure secrets generate pepper --out file:./secrets/pepper',
  )
}

const toWarning = (message: string): Finding => warn('secrets', message)

/** Collects warnings, except those about secret files, which `checkFiles` reports. */
const collector = (warnings: string[]): Logger => ({
  debug: () => undefined,
  info: () => undefined,
  warn: (message) => void (message.startsWith('secret file ') || warnings.push(message)),
  error: (message) => void warnings.push(message),
})
