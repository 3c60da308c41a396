import type { ConfiguredMcpServer } from '@perdure/core'
import { type EpochMs, StartError } from '@perdure/ports'
import { OperatorId, SecretReference, Timestamp } from '@perdure/protocol'
import * as v from 'valibot'
import { type ResolveReferencesDeps, resolveSecret } from './resolve-references.ts'

const texts = v.record(v.string(), v.string())
const references = v.record(v.string(), SecretReference)

const StdioServer = v.strictObject({
  id: OperatorId,
  transport: v.optional(v.literal('stdio')),
  command: v.pipe(v.string(), v.minLength(1)),
  args: v.optional(v.array(v.string()), []),
  env: v.optional(texts, {}),
  envRefs: v.optional(references, {}),
  cwd: v.optional(v.string()),
})

const HttpServer = v.strictObject({
  id: OperatorId,
  transport: v.optional(v.literal('http')),
  url: v.pipe(v.string(), v.url(), v.regex(/^https?:/, 'must begin with http: or https:')),
  headersRef: v.optional(SecretReference),
  tokenExpiresAt: v.optional(Timestamp),
})

/**
 * A configured MCP server: a program (`command`, `args`, `env`, `cwd`, and secrets as `envRefs`), or a `url`. With a
 * `url`, `headersRef` refers to the secret that contains the request headers, and `tokenExpiresAt` is the expiry time
 * of the token in these headers.
 */
export type McpServerRegistration = v.InferInput<typeof StdioServer> | v.InferInput<typeof HttpServer>

/** @throws StartError `config-invalid` that names the member at fault */
export function readMcpServers(registrations: readonly McpServerRegistration[]): readonly ConfiguredMcpServer[] {
  const ids = new Set<string>()
  return registrations.map((registration, index) => {
    const server = toConfigured(registration, index)
    const { id } = server.endpoint
    if (ids.has(id)) throw invalid(index, `id: ${id} is registered twice`)
    ids.add(id)
    return server
  })
}

/** Checks that every secret of the servers resolves. @throws StartError `secret-unresolvable` */
export async function checkMcpSecrets(
  servers: readonly ConfiguredMcpServer[],
  deps: ResolveReferencesDeps,
): Promise<void> {
  for (const { endpoint } of servers) {
    const { id } = endpoint
    const secrets =
      endpoint.transport === 'stdio'
        ? Object.entries(endpoint.envRefs).map(([name, reference]) => [`envRefs.${name}`, reference] as const)
        : [['headersRef', endpoint.headersRef] as const]
    for (const [member, reference] of secrets) {
      if (reference !== undefined) await resolveSecret(deps, `mcpServers ${id} ${member}`, reference)
    }
  }
}

function toConfigured(registration: McpServerRegistration, index: number): ConfiguredMcpServer {
  const isStdio = typeof registration === 'object' && registration !== null && 'command' in registration
  if (isStdio) return { endpoint: { ...parse(StdioServer, registration, index), transport: 'stdio' } }
  const { tokenExpiresAt, ...endpoint } = parse(HttpServer, registration, index)
  return {
    endpoint: { ...endpoint, transport: 'http' },
    ...(tokenExpiresAt === undefined ? {} : { tokenExpiresAt: Date.parse(tokenExpiresAt) as EpochMs }),
  }
}

function parse<Schema extends v.GenericSchema>(schema: Schema, value: unknown, index: number): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, value)
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  const path = v.getDotPath(issue) ?? 'registration'
  throw invalid(index, issue.expected === 'never' ? `${path}: unknown member` : `${path}: ${issue.message}`)
}

const invalid = (index: number, message: string) =>
  new StartError('config-invalid', {
    message: `mcpServers.${index}: ${message}`,
    hint: 'register { id, command, args } or { id, url, headersRef }',
  })
