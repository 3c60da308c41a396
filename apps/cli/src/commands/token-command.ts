import { basename } from 'node:path'
import { type IsRegistered, scopeWarnings } from '@perdure/core'
import { perdureError, type TokenRecord } from '@perdure/ports'
import type { TokenEnv } from '@perdure/protocol'
import { openTokenAdmin, type TokenAdmin } from '@perdure/server-app'
import type { Call } from '../call.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { expiryOf } from '../expiry.ts'
import { id, pairsText } from '../output/columns.ts'
import { relativeText } from '../output/time-text.ts'
import { isPartial, onlyOne } from '../resolve-id.ts'
import { configBesideDev } from '../server-access/config-beside-dev.ts'
import { checkScopes } from './check-scopes.ts'

export interface TokenCreateFlags {
  readonly name: string
  readonly scopes: readonly string[]
  readonly subject?: string
  readonly env?: TokenEnv
  readonly expires?: string
  readonly expiresAt?: string
}

interface TokenFlags {
  readonly id: string
}

/** Without `--json`, stdout holds only the token, for `TOKEN=$(perdure token create …)`. */
export async function tokenCreateCommand(call: Call, flags: TokenCreateFlags): Promise<void> {
  const { name, scopes, subject, env } = flags
  checkScopes(scopes)
  const expiresAt = expiryOf(flags, Date.now())
  const warnings = warningsOf(await call.config(), scopes)
  const { token, record } = await withTokens(call, (admin) => admin.mint({ name, scopes, subject, env, expiresAt }))
  const until = record.expiresAt === undefined ? 'never expires' : `expires ${isoOf(record.expiresAt)}`
  if (!call.out.isJson) {
    const subject = record.subject === record.id ? '' : `subject ${record.subject}, `
    const details = `${subject}scopes ${record.scopes.join(', ')}, ${until}`
    call.out.note(`created ${record.id}: ${details}; the token is not shown again`)
  }
  for (const warning of warnings) call.out.note(`warning: ${warning}`)
  const shown = { ...tokenDocument(record), token, ...(warnings.length === 0 ? {} : { warnings }) }
  call.out.document(shown, () => `${token}\n`)
}

/** Without a configuration file, nothing is known of the registrations of the server. */
function warningsOf({ configPath, agents, workflows }: LoadedConfig, scopes: readonly string[]): readonly string[] {
  if (configPath === undefined) return []
  const registered = { agent: agents, workflow: workflows }
  const isRegistered: IsRegistered = (kind, id) => registered[kind].some((one) => one?.id === id)
  return scopeWarnings(scopes, isRegistered).map((warning) => `${warning} in ${basename(configPath)}`)
}

export async function tokenListCommand(call: Call): Promise<void> {
  const records = await withTokens(call, allTokens)
  const now = Date.now()
  call.out.list(
    { items: records.map(tokenDocument), nextCursor: null },
    {
      ID: id('id'),
      NAME: 'name',
      SUBJECT: 'subject',
      TOKEN: ({ env, last4 }) => `perdure_${env}_…${last4}`,
      SCOPES: ({ scopes }) => scopes.join(','),
      STATE: (token) => stateOf(token, now),
      'LAST USED': ({ lastUsedAt }) => relativeText(lastUsedAt, now),
      BY: 'createdBy',
    },
  )
}

export async function tokenInspectCommand(call: Call, { id }: TokenFlags): Promise<void> {
  const record = await withTokens(call, (admin) => tokenOf(admin, id))
  const document = tokenDocument(record)
  call.out.document(document, (paint) => pairsText(Object.entries(document), paint))
}

export async function tokenRevokeCommand(call: Call, { id }: TokenFlags): Promise<void> {
  const { record, webhooks } = await withTokens(call, async (admin) => {
    const token = await tokenOf(admin, id)
    return { webhooks: await admin.webhooksOf(token.id), record: await admin.revoke(token.id) }
  })
  const ended = webhooks.length === 0 ? '' : `disabled with it: ${webhooks.map((one) => `webhook ${one}`).join(', ')}\n`
  call.out.document({ ...tokenDocument(record), ...(webhooks.length === 0 ? {} : { webhooks }) }, () => {
    return `revoked ${record.id}\n${ended}`
  })
}

/** The token with this id, the only one whose id begins like this, or the newest for `last`. */
async function tokenOf(admin: TokenAdmin, given: string): Promise<TokenRecord> {
  const records = await allTokens(admin)
  const candidates = isPartial('token', given) ? records.filter(({ id }) => id.startsWith(given)) : []
  const id =
    onlyOne(
      'token',
      given,
      candidates.map((one) => one.id),
    ) ?? given
  const record = given === 'last' ? records[0] : records.find((one) => one.id === id)
  if (record === undefined) throw perdureError('token-not-found', { hint: 'run perdure token list' })
  return record
}

async function withTokens<T>(call: Call, work: (admin: TokenAdmin) => Promise<T>): Promise<T> {
  const loaded = await call.config()
  const admin = await openTokenAdmin(configBesideDev(loaded), loaded)
  try {
    return await work(admin)
  } finally {
    await admin.close()
  }
}

const PAGE_SIZE = 200

async function allTokens(admin: TokenAdmin): Promise<readonly TokenRecord[]> {
  const records: TokenRecord[] = []
  let cursor: string | undefined
  do {
    const page = await admin.list({ limit: PAGE_SIZE, cursor, order: 'desc' })
    records.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return records
}

/** The record as the API returns it: no digest, ISO times, unset fields omitted. */
function tokenDocument(record: TokenRecord) {
  const { id, name, subject, scopes, env, createdBy, last4 } = record
  return {
    id,
    name,
    subject,
    scopes,
    env,
    createdAt: isoOf(record.createdAt),
    createdBy,
    expiresAt: isoOf(record.expiresAt),
    lastUsedAt: isoOf(record.lastUsedAt),
    revokedAt: isoOf(record.revokedAt),
    last4,
  }
}

const isoOf = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString()

function stateOf({ revokedAt, expiresAt }: ReturnType<typeof tokenDocument>, now: number): string {
  if (revokedAt !== undefined) return `revoked ${relativeText(revokedAt, now)}`
  if (expiresAt === undefined) return 'active'
  return `${Date.parse(expiresAt) <= now ? 'expired' : 'expires'} ${relativeText(expiresAt, now)}`
}
