import { log } from './0001-log.ts'
import { runs } from './0002-runs.ts'
import { sessions } from './0003-sessions.ts'
import { memory } from './0004-memory.ts'
import { access } from './0005-access.ts'
import { cluster } from './0006-cluster.ts'
import { webhooks } from './0007-webhooks.ts'
import { nodes } from './0008-nodes.ts'
import { approved } from './0009-approved.ts'
import { declarations } from './0010-declarations.ts'
import { rootRuns } from './0011-root-runs.ts'
import { askedHash } from './0012-asked-hash.ts'
import { turns } from './0013-turns.ts'
import { files } from './0014-files.ts'
import { chats } from './0015-chats.ts'
import { subjectRevocations } from './0016-subject-revocations.ts'
import { resultFiles } from './0017-result-files.ts'
import { subjects } from './0018-subjects.ts'
import { hookDeliveries } from './0019-hook-deliveries.ts'
import { assignedApprovals } from './0020-assigned-approvals.ts'
import { usagePerDay } from './0021-usage-per-day.ts'
import type { Migration } from './migration.ts'

/** Every migration, in order. Append only. */
export const MIGRATIONS: readonly Migration[] = [
  log,
  runs,
  sessions,
  memory,
  access,
  cluster,
  webhooks,
  nodes,
  approved,
  declarations,
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
