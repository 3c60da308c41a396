import { basename } from 'node:path'
import type { Logger } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { createServer } from '@perdure/server-app'
import type { LoadedConfig } from '../config/load-config.ts'
import { type Finding, failFrom, ok, warn } from './finding.ts'

/** The pre-bind validation of the server itself: registrations, contradictions, and every secret reference. */
export async function checkStart(config: ServerConfig, loaded: LoadedConfig): Promise<readonly Finding[]> {
  const warnings: string[] = []
  const { agents, workflows, triggers, skills, mcpServers, hooks, adapters, embedder, consolidator, configDir } = loaded
  try {
    const server = await createServer({
      config,
      agents,
      workflows,
      triggers,
      skills,
      mcpServers,
      configDir,
      consolidator,
      ...(hooks === undefined ? {} : { hooks }),
      ...(embedder === undefined ? {} : { embedder }),
      adapters: { ...adapters, logger: collector(warnings) },
    })
    await server.check()
  } catch (error) {
    return [...warnings.map(toWarning), failFrom('secrets', error, 'correct the configuration')]
  }
  return [...warnings.map(toWarning), secretsFinding(config)]
}

function secretsFinding({ auth }: ServerConfig): Finding {
  if (auth.kind === 'none') return warn('secrets', 'auth.kind is none: whoever reaches the port may do everything')
  if (basename(auth.pepperRef ?? '') !== 'dev-pepper') return ok('secrets', 'the pepper resolves and is long enough')
  return warn(
    'secrets',
    'the pepper is that of perdure dev',
    'make one of its own: perdure secrets generate pepper --out file:./secrets/pepper',
  )
}

const toWarning = (message: string): Finding => warn('secrets', message)

/** What a file with a secret is open to is the matter of `checkFiles`. */
const collector = (warnings: string[]): Logger => ({
  debug: () => undefined,
  info: () => undefined,
  warn: (message) => void (message.startsWith('secret file ') || warnings.push(message)),
  error: (message) => void warnings.push(message),
})
