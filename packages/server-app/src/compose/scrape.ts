import type { ConsolidatorGroup, Engine, EventHub, NodeWatch } from '@perdure/core'
import type { Vitals } from '@perdure/platform-node'
import type { Clock, Exposition, MetricSeries, ReadableMeter, Storage } from '@perdure/ports'
import type { EventStreams, SocketServer } from '@perdure/realtime'
import { version } from '../version.ts'
import { createServerMeter } from './storage-server-meter.ts'

export interface ScrapeDeps {
  readonly meter: ReadableMeter
  readonly clock: Clock
  readonly vitals: Vitals
  readonly storage: Pick<Storage, 'status' | 'tail'>
  readonly engine: Pick<Engine, 'readLoad'>
  readonly streams: Pick<EventStreams, 'size'>
  readonly webSockets: Pick<SocketServer, 'size' | 'subscriptions'>
  readonly hub: Pick<EventHub, 'stats'>
  readonly consolidator: Pick<ConsolidatorGroup, 'readState'>
  readonly nodeWatch: Pick<NodeWatch, 'gauges'>
  readonly droppedLogLines: () => number
  /** Seconds until each configured token of an MCP server expires. */
  readonly tokenFreshness: () => readonly { readonly server: string; readonly seconds: number }[]
}

/** Reads the metrics of the server. */
export interface Scrape {
  /** Answers a scrape. */
  readMetrics(): Promise<Exposition>
  /** For other readers, with vitals of their own, because reading them begins a new measurement. */
  readSeries(vitals: Vitals): Promise<readonly MetricSeries[]>
}

/** Gauges come from memory; the only call to the database is `status()`. */
export function createScrape(deps: ScrapeDeps): Scrape {
  const { meter, clock, storage, engine, streams, webSockets, hub, consolidator } = deps
  const startedMs = clock.monotonicMs()
  let countedDrops = 0
  const meterServer = createServerMeter(meter)
  meter.gauge('svc_build_info', { version, node: process.version }, 1)

  const readGauges = async (vitals: Vitals) => {
    const { executing, queued } = engine.readLoad()
    meter.gauge('svc_inflight_runs', { kind: 'agent' }, executing.agent)
    meter.gauge('svc_inflight_runs', { kind: 'workflow' }, executing.workflow)
    meter.gauge('svc_queued_runs', {}, queued)
    gaugeConsolidator(meter, consolidator.readState())
    meter.gauge('svc_subscriptions', { transport: 'sse' }, streams.size())
    meter.gauge('svc_subscriptions', { transport: 'websocket' }, webSockets.subscriptions())
    meter.gauge('svc_ws_connections', {}, webSockets.size())
    meter.gauge('svc_replay_buffer_events', {}, hub.stats().events)
    meter.gauge('svc_event_loop_delay_seconds', {}, vitals.eventLoopDelaySeconds())
    meter.gauge('svc_process_resident_memory_bytes', {}, vitals.residentMemoryBytes())
    meter.gauge('svc_uptime_seconds', {}, (clock.monotonicMs() - startedMs) / 1_000)
    const drops = deps.droppedLogLines()
    meter.count('svc_log_lines_dropped_total', {}, drops - countedDrops)
    countedDrops = drops
    for (const { server, seconds } of deps.tokenFreshness()) {
      meter.gauge('svc_oauth_token_freshness_seconds', { server }, seconds)
    }
    const tail = storage.tail?.state()
    if (tail !== undefined) meter.gauge('svc_log_tail_lag_seconds', {}, tail.lagMs / 1_000)
    gaugeCluster(meter, deps.nodeWatch.gauges())
    // A failed storage must not hide the other metrics.
    const status = await storage.status().catch(() => undefined)
    if (status !== undefined) meter.gauge('svc_storage_wal_size_bytes', {}, status.walBytes)
    if (status?.server !== undefined) meterServer(status.server)
  }

  return {
    async readMetrics() {
      await readGauges(deps.vitals)
      return meter.expose()
    },
    async readSeries(vitals) {
      await readGauges(vitals)
      return meter.series()
    },
  }
}

/** Without other servers there is nothing to show. */
function gaugeCluster(meter: ReadableMeter, gauges: ReturnType<NodeWatch['gauges']>): void {
  if (gauges === undefined) return
  const { ready, draining, queuedRuns, oldestQueuedSeconds, runsWithoutCode } = gauges.health
  meter.gauge('svc_nodes', { status: 'ready' }, ready)
  meter.gauge('svc_nodes', { status: 'draining' }, draining)
  meter.gauge('svc_cluster_queued_runs', {}, queuedRuns)
  meter.gauge('svc_cluster_oldest_queued_seconds', {}, oldestQueuedSeconds)
  meter.gauge('svc_cluster_runs_without_code', {}, runsWithoutCode)
  meter.gauge('svc_node_lease_seconds', {}, gauges.leaseMs / 1_000)
  for (const { name, isMine } of gauges.duties) meter.gauge('svc_duty', { name }, isMine ? 1 : 0)
}

/** A budget unit without a limit has no remaining amount, so it has no time series. */
function gaugeConsolidator(meter: ReadableMeter, { counts, budget }: ReturnType<ConsolidatorGroup['readState']>): void {
  const { deadLetters, ...depths } = counts
  for (const [phase, depth] of Object.entries(depths)) meter.gauge('svc_consolidator_queue_depth', { phase }, depth)
  meter.gauge('svc_consolidator_dead_letters', {}, deadLetters)
  for (const [unit, { remaining }] of Object.entries(budget)) {
    if (remaining !== null) meter.gauge('svc_consolidator_budget_remaining', { unit }, remaining)
  }
}
