import { meta } from './0001-meta.ts'
import { runs } from './0002-runs.ts'
import { events } from './0003-events.ts'
import { idempotency } from './0004-idempotency.ts'
import { sessions } from './0005-sessions.ts'
import { tokens } from './0006-tokens.ts'
import { steps } from './0007-steps.ts'
import { approvals } from './0008-approvals.ts'
import { durableRuns } from './0009-durable-runs.ts'
import { audit } from './0010-audit.ts'
import { tokenFamilies } from './0011-token-families.ts'
import { emissionsAndExpiry } from './0012-emissions-and-expiry.ts'
import { auditHead } from './0013-audit-head.ts'
import { triggers } from './0014-triggers.ts'
import { sessionLife } from './0015-session-life.ts'
import { memory } from './0016-memory.ts'
import { consolidator } from './0017-consolidator.ts'
import { fewerPages } from './0018-fewer-pages.ts'
import { answersOfRuns } from './0019-answers-of-runs.ts'
import { repairableRuns } from './0020-repairable-runs.ts'
import { foundSessions } from './0021-found-sessions.ts'
import { usageOfChildren } from './0022-usage-of-children.ts'
import { flowControl } from './0023-flow-control.ts'
import { sharedStorage } from './0024-shared-storage.ts'
import { webhooks } from './0025-webhooks.ts'
import { approved } from './0026-approved.ts'
import { rootRuns } from './0027-root-runs.ts'
import { askedHash } from './0028-asked-hash.ts'
import { turns } from './0029-turns.ts'
import { files } from './0030-files.ts'
import { chats } from './0031-chats.ts'
import { subjectRevocations } from './0032-subject-revocations.ts'
import { resultFiles } from './0033-result-files.ts'
import { subjects } from './0034-subjects.ts'
import { hookDeliveries } from './0035-hook-deliveries.ts'
import { assignedApprovals } from './0036-assigned-approvals.ts'
import { usagePerDay } from './0037-usage-per-day.ts'
import type { Migration } from './migration.ts'

/** Every migration, in order. Append only. */
export const MIGRATIONS: readonly Migration[] = [
  meta,
  runs,
  events,
  idempotency,
  sessions,
  tokens,
  steps,
  approvals,
  durableRuns,
  audit,
  tokenFamilies,
  emissionsAndExpiry,
  auditHead,
  triggers,
  sessionLife,
  memory,
  consolidator,
  fewerPages,
  answersOfRuns,
  repairableRuns,
  foundSessions,
  usageOfChildren,
  flowControl,
  sharedStorage,
  webhooks,
  approved,
  rootRuns,
  askedHash,
  turns,
  files,
  chats,
  subjectRevocations,
  resultFiles,
  subjects,
  hookDeliveries,
  assignedApprovals,
  usagePerDay,
]
