import { aiSdkOverhead } from './ai-sdk-overhead.ts'
import { auditedRuns } from './audited-runs.ts'
import type { BenchCase } from './bench-case.ts'
import { busyStreams } from './busy-streams.ts'
import { clusterRuns } from './cluster-runs.ts'
import { clusterIdle, clusterStreams, clusterTakeover } from './cluster-times.ts'
import { coldStarts } from './cold-start.ts'
import { durableRuns } from './durable-runs.ts'
import { embedded } from './embedded.ts'
import { fanOut } from './fan-out.ts'
import { flushDelay } from './flush-delay.ts'
import { foldCost } from './fold.ts'
import { hookDeliveries } from './hook-deliveries.ts'
import { jwtRuns } from './jwt-runs.ts'
import { keyedReplay } from './keyed-replay.ts'
import { longConversation } from './long-conversation.ts'
import { memoryGrowth } from './memory-growth.ts'
import { postgresReplay } from './postgres-replay.ts'
import { postgresAgainstDbos, postgresAgainstSqlite, postgresRuns } from './postgres-runs.ts'
import { projectedStreams } from './projected-streams.ts'
import { queuedRuns } from './queued-runs.ts'
import { scrapes } from './scrape.ts'
import { shippedRuns } from './shipped-runs.ts'
import { stalledSockets } from './stalled-sockets.ts'
import { stepCosts } from './step-costs.ts'
import { recovery, storedHistory } from './stored-history.ts'
import { streamedRun } from './streamed-run.ts'

export const CASES: readonly BenchCase[] = [
  shippedRuns,
  durableRuns,
  keyedReplay,
  streamedRun,
  fanOut,
  stalledSockets,
  coldStarts,
  storedHistory,
  auditedRuns,
  flushDelay,
  recovery,
  scrapes,
  memoryGrowth,
  queuedRuns,
  busyStreams,
  embedded,
  foldCost,
  projectedStreams,
  aiSdkOverhead,
  stepCosts,
  jwtRuns,
  longConversation,
  hookDeliveries,
  postgresRuns,
  postgresAgainstSqlite,
  postgresAgainstDbos,
  postgresReplay,
  clusterRuns,
  clusterStreams,
  clusterTakeover,
  clusterIdle,
]
