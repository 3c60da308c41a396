import { type DeclaredNoun, triggerFingerprint, webhookFingerprint } from '@perdure/core'
import {
  canonicalJson,
  type Digest,
  type NodeIdentity,
  nodeDeclaration,
  nodeTarget,
  type SkillStore,
} from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { version } from '../version.ts'
import type { LifecycleParts } from './lifecycle-parts.ts'
import type { Secrets } from './pre-bind.ts'

export interface IdentityParts
  extends Pick<
    LifecycleParts,
    'config' | 'agents' | 'workflows' | 'registeredSkills' | 'triggers' | 'webhookEndpoints' | 'mcpServers'
  > {
  readonly secrets: Pick<Secrets, 'peppers'>
  readonly skills: SkillStore
  readonly digest: Digest
}

/** What the other servers of a cluster learn about this one. Fingerprints reveal neither secrets nor settings. */
export async function nodeIdentity({ secrets, digest, ...parts }: IdentityParts): Promise<NodeIdentity> {
  const shortHash = (text: string) => digest.sha256(text).slice(0, SHORT)
  const fingerprint = (pepper: Uint8Array) => digest.hmacSha256(pepper, 'perdure cluster pepper').slice(0, SHORT)
  const targets = targetsOf(parts)
  const { triggers, webhookEndpoints, mcpServers } = parts
  const declared = { triggers, webhookEndpoints, mcpServers }
  const settings = { ...comparedSettings(parts.config), ...declared, skills: await skillsOf(parts), targets }
  return {
    ...{ version, targets, peppers: secrets.peppers.map(fingerprint), declares: declarationsOf(parts, digest) },
    settings: Object.fromEntries(
      Object.entries(settings).map(([part, value]) => [part, shortHash(canonicalJson(value))]),
    ),
  }
}

/** Digits of a fingerprint. */
const SHORT = 16

/** Addresses, paths and limits of one process may differ between servers; what clients and runs notice should not. */
const comparedSettings = (config: ServerConfig) => ({
  auth: { kind: config.auth.kind, lockout: config.auth.lockout },
  audit: { enabled: config.audit.enabled, retentionDays: config.audit.retentionDays },
  basePath: config.server.basePath,
  consolidator: config.consolidator,
  idempotency: config.server.idempotency,
  leaseMs: config.storage.leaseMs,
  memory: config.memory,
  models: config.models,
  retention: config.retention,
  runs: { ...config.runs, concurrency: undefined },
  sanitizer: config.realtime.sanitizer,
  sessions: config.sessions,
  'triggers.enabled': config.triggers.enabled,
  webhooks: config.webhooks,
  workflows: config.workflows,
})

/** What of the configuration has an effect on rows that all servers share. */
const declarationsOf = (
  { config, triggers, webhookEndpoints }: Pick<IdentityParts, 'config' | 'triggers' | 'webhookEndpoints'>,
  digest: Digest,
): string[] => {
  const declaration = (noun: DeclaredNoun, id: string, value: string) => nodeDeclaration(noun, id, value)
  const { undeclaredSeconds, ...limits } = config.retention
  const auditDays = config.audit.retentionDays
  const set = Object.entries(limits).filter(([, days]) => days !== undefined)
  return [
    ...triggers.map((trigger) => declaration('trigger', trigger.id, triggerFingerprint(digest, trigger))),
    ...webhookEndpoints.map((one) => declaration('webhook', one.id, webhookFingerprint(digest, one))),
    ...set.map(([limit, days]) => declaration('retention', limit, String(days))),
    declaration('webhook-retention', 'days', String(config.webhooks.retentionDays)),
    declaration('hook-retention', 'days', String(config.webhooks.inKeepDays)),
    ...(auditDays === undefined ? [] : [declaration('audit-retention', 'days', String(auditDays))]),
  ].toSorted()
}

const targetsOf = ({ agents, workflows }: Pick<IdentityParts, 'agents' | 'workflows'>): string[] =>
  [agents, workflows]
    .flatMap((registry) => registry.list().flatMap(({ id }) => registry.versions(id)))
    .flatMap(({ kind, id, version: code }) => [nodeTarget(kind, id), nodeTarget(kind, id, code)])
    .filter((target, index, all) => all.indexOf(target) === index)
    .toSorted()

async function skillsOf({ skills, registeredSkills }: Pick<IdentityParts, 'skills' | 'registeredSkills'>) {
  const all = await Promise.all([registeredSkills.list(), skills.list()])
  return all.flat().map((skill) => canonicalJson(skill))
}
