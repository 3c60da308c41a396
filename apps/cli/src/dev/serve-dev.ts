import { open as openInspector } from 'node:inspector'
import { dirname } from 'node:path'
import { createLogger } from '@perdure/platform-node'
import { StartError } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { openTokenAdmin } from '@perdure/server-app'
import { bucketEndpoint } from '@perdure/server-app/admin'
import type { LoadedConfig } from '../config/load-config.ts'
import { loadForCommand } from '../config/load-for-command.ts'
import { validConfig } from '../config/valid-config.ts'
import { demoAgents } from '../demo/demo-agents.ts'
import { echoAgent } from '../demo/echo-agent.ts'
import { keySetUrls, providerUrls } from '../doctor/check-issuers.ts'
import { reportOf, reportText } from '../error-report.ts'
import { exitCodeOf } from '../exit-code-of.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { watchInterruptions } from '../interruptions.ts'
import { makePrivateFolder } from '../private-folder.ts'
import { listeningUrl } from '../serve/listening-url.ts'
import { prepareServer } from '../serve/prepare-server.ts'
import { type Listening, serve } from '../serve/serve.ts'
import { useSourceMaps } from '../serve/use-source-maps.ts'
import type { Terminal } from '../terminal.ts'
import { devConfig } from './dev-config.ts'
import { createDevLog, OWN_REQUEST_ID } from './dev-log.ts'
import type { DevSetup, ServedFacts } from './dev-messages.ts'
import { createDevTracer } from './dev-tracer.ts'
import type { ParentLink } from './parent-link.ts'
import { tryableTargets } from './tryable-targets.ts'
import { versionOf } from './version-of.ts'
import { type Warn, watchAgentResults, watchWorkflowResults } from './watch-results.ts'

const TOKEN_LIFE_MS = 24 * 60 * 60 * 1_000

/**
 * Runs the server process of `perdure dev`: reads and checks the configuration, waits for the order to start, and
 * serves until a signal or a replacement. Reports a refused start and returns the exit code.
 */
export async function serveDev(link: ParentLink, terminal: Terminal): Promise<number> {
  useSourceMaps()
  const setup = await link.setup
  let loaded: LoadedConfig | undefined
  try {
    const onImport = (file: string) => void link.report({ type: 'imported', file, version: versionOf(file) })
    loaded = await loadForCommand({ ...terminal, cwd: setup.cwd }, setup.flags, onImport)
    return await serveLoaded({ link, terminal, setup }, loaded)
  } catch (thrown) {
    const error = await withPortHint(thrown, loaded)
    const context = { config: loaded }
    const exitCode = exitCodeOf(error)
    const refusal = { report: reportOf(error, context), text: reportText(error, context), exitCode }
    await link.report({ type: 'refused', refusal })
    return exitCode
  }
}

/** Shorter lines for a developer who watches them; a configured logger or tracer is kept. */
function withDevLog(terminal: Terminal, loaded: LoadedConfig, { log, telemetry }: ServerConfig): LoadedConfig {
  const { adapters } = loaded
  if (adapters.logger !== undefined) return loaded
  const logger = createDevLog(terminal, createLogger({ level: log.level, json: false, stream: terminal.stderr }))
  const isTraced = telemetry.traces || !['debug', 'info'].includes(log.level)
  return {
    ...loaded,
    adapters: { ...adapters, logger, ...(isTraced ? {} : { tracer: createDevTracer(terminal, adapters.tracer) }) },
  }
}

/** Says whether another Perdure server has the port, and how to use another one. */
async function withPortHint(error: unknown, loaded: LoadedConfig | undefined): Promise<unknown> {
  if (!(error instanceof StartError) || error.kind !== 'address-in-use' || loaded === undefined) return error
  const { host, port, basePath } = validConfig(loaded).server
  const url = listeningUrl({ host, port, basePath })
  const isPerdure = await fetch(`${url}/health/live`, { signal: AbortSignal.timeout(1_000) }).then(
    async (response) => (await response.text()) === '{"status":"ok"}',
    () => false,
  )
  const owner = isPerdure ? 'another Perdure server, perhaps perdure dev in another folder,' : 'another program'
  return new StartError('address-in-use', {
    message: `${owner} already listens on ${host}:${port}`,
    hint: `stop it, or start with --port ${port + 1} (--port 0 picks a free port)`,
    cause: error,
  })
}

interface DevProcess {
  readonly link: ParentLink
  readonly terminal: Terminal
  readonly setup: DevSetup
}

async function serveLoaded({ link, terminal, setup }: DevProcess, loaded: LoadedConfig): Promise<number> {
  const dev = await devConfig(loaded)
  const config = withPort(dev.config, setup.boundPort)
  const { cwd, flags, json } = setup
  const isEmpty = loaded.agents.length === 0 && loaded.workflows.length === 0
  const extra = flags.demo ? demoAgents(cwd, loaded.agents) : isEmpty ? [echoAgent] : []
  const agents = [...loaded.agents, ...extra]
  const results = { warn: (() => undefined) as Warn }
  const watch: Warn = (message, fields) => results.warn(message, fields)
  const workflows = loaded.workflows.map((one) => watchWorkflowResults(one, watch))
  const { server, log, flushLog } = await prepareServer(terminal, {
    config,
    loaded: { ...(setup.verbose || json ? loaded : withDevLog(terminal, loaded, config)), workflows },
    agents: agents.map((one) => watchAgentResults(one, watch)),
    json,
    ownsProcess: false,
  })
  results.warn = (message, fields) => log.warn(message, fields)
  await server.check()
  void link.report({ type: 'prepared' })
  await link.started

  if (flags.inspect !== undefined) openInspector(flags.inspect, '127.0.0.1')
  await makePrivateFolder(dirname(config.storage.path))
  const tryable = await tryableTargets(cwd, agents, loaded.workflows)
  const tokenRealm = tokenRealmOf(config)
  const mint = () => mintDevToken(config, loaded)
  const mintAgain = async () => {
    try {
      await link.report({ type: 'minted', token: await mint() })
    } catch (error) {
      await link.report({ type: 'failed', message: error instanceof Error ? error.message : String(error) })
    }
  }
  link.onMint(() => void mintAgain())
  const factsOf = async (listening: Listening, token: string | undefined): Promise<ServedFacts> => ({
    listening,
    storagePath: config.storage.path,
    pepperPath: dev.pepperPath,
    agentIds: agents.map(({ id }) => id),
    workflowIds: loaded.workflows.map(({ id }) => id),
    triggerIds: loaded.triggers.map(({ id }) => id),
    hookIds: config.webhooks.in.map(({ id }) => id),
    tryable,
    hasDocs: config.docs.enabled,
    hasConsole: config.console.enabled,
    outboundUrls: outboundUrls(config),
    consoleCode: config.console.enabled ? await consoleCode(listeningUrl(listening), token) : undefined,
    tokenRealm,
    token,
  })
  const interruptions = watchInterruptions(link.interruptions, {
    monotonicMs: () => performance.now(),
    isHandled: server.attribute,
  })
  const served = serve(server, {
    interruptions,
    log,
    // Mints the token only once the server listens, so that a refused start leaves no token behind.
    async onListening(listening) {
      const token = tokenRealm === undefined || tokenRealm === setup.tokenRealm ? undefined : await mint()
      await link.report({ type: 'listening', facts: await factsOf(listening, token) })
    },
  })
  const replaced = link.replaced.then(() => server.stop({ force: true })).then(() => EXIT_CODES.ok.code)
  return Promise.race([served, replaced]).finally(flushLog)
}

/** A code for the link in the banner. Without one, the banner shows the address of the console alone. */
async function consoleCode(url: string, token: string | undefined): Promise<string | undefined> {
  if (token === undefined) return undefined
  const { createClient } = await import('@perdure/client')
  const headers = { 'X-Request-Id': OWN_REQUEST_ID }
  const issued = createClient({
    baseUrl: url,
    token,
    headers,
    maxRetries: 0,
    timeoutMs: 2_000,
  }).console.createCode()
  return issued.then(
    ({ code }) => code,
    () => undefined,
  )
}

/** Keeps the bound port when the configured port is 0. */
function withPort(config: ServerConfig, boundPort: number | undefined): ServerConfig {
  const { server } = config
  return boundPort === undefined || server.port !== 0 ? config : { ...config, server: { ...server, port: boundPort } }
}

const tokenRealmOf = ({ auth, storage }: ServerConfig): string | undefined =>
  auth.kind === 'none' ? undefined : JSON.stringify([storage.path, auth.pepperRef])

async function mintDevToken(config: ServerConfig, loaded: LoadedConfig): Promise<string> {
  const admin = await openTokenAdmin(config, loaded)
  try {
    const expiresAt = Date.now() + TOKEN_LIFE_MS
    const { token } = await admin.mint({ name: 'dev', subject: 'dev', env: 'local', scopes: ['admin:*'], expiresAt })
    return token
  } finally {
    await admin.close()
  }
}

/** Where the server connects to by its configuration: the keys of issuers, the provider of the console, and the bucket of files. */
const outboundUrls = (config: ServerConfig): readonly string[] => [
  ...keySetUrls(config),
  ...providerUrls(config),
  ...(config.storage.files.s3.bucket === undefined ? [] : [bucketEndpoint(config.storage)]),
]
