/** The long forms of the suite; see `npm run torture -- --help`. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { toolPath } from '../../tooling/machine-tools.ts'
import { createAuditedSandbox } from './audited-sandbox.ts'
import { runUnderJumps } from './clock.ts'
import { crashCommands } from './command-crashes.ts'
import { injectFaults } from './crash-points.ts'
import { damageFiles } from './damage.ts'
import { failEveryFlush, killAtEveryCall, someFaults, someKills } from './fault-plans.ts'
import { runKills } from './kills.ts'
import { crashMigrations } from './migration-crashes.ts'
import { soak } from './soak.ts'
import { crashStarts } from './start-crashes.ts'

const USAGE = `npm run torture -- [--hours N] [--only PART,…] [--seed S] [--points N | --shard K/N] [--kills N] [--minutes M]

  --hours N     repeat with new seeds until N hours have passed (default: one round)
  --only PART   run only these of ${['kills', 'audited', 'starts', 'crash-points', 'io', 'damage', 'migrations', 'commands', 'clock', 'egress', 'soak'].join(', ')}
  --seed S      seed of the first round, as printed by an earlier run (default: from the time)
  --points N    inject faults at N system calls (default: all)
  --shard K/N   crash-points: use every N-th system call from the K-th on, so that N processes cover all of them
  --kills N     kill N times (default: 200; audited and starts 100, clock 50)
  --minutes M   minutes of the soak per round (default: 30)
`

const { values } = parseArgs({
  options: {
    hours: { type: 'string' },
    only: { type: 'string' },
    seed: { type: 'string' },
    points: { type: 'string' },
    shard: { type: 'string', default: '1/1' },
    kills: { type: 'string' },
    minutes: { type: 'string' },
    help: { type: 'boolean' },
  },
})
const points = values.points === undefined ? undefined : Number(values.points)
const say = (line: string) => process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`)

interface Found {
  readonly violations: readonly string[]
}

type Part = (seed: number) => Promise<Found>

const PARTS: Readonly<Record<string, Part>> = {
  kills: async (seed) => {
    const report = await runKills({
      ...{ seed, kills: Number(values.kills ?? 200), workers: 16, uptimeMs: [50, 1_500] },
      onKill: (_, n) => tick('kill', n),
    })
    say(
      `${report.kills} kills, ${report.actions} actions, ${report.requests} requests; from start to healthy ${spreadOf(report.outages)}`,
    )
    return report
  },
  audited: async (seed) => {
    const sandbox = createAuditedSandbox()
    const kills = Number(values.kills ?? 100)
    const report = await runKills({
      seed,
      sandbox,
      kills,
      workers: 8,
      uptimeMs: [50, 1_000],
      onKill: (_, n) => tick('kill', n),
    })
    say(`separate audit file: ${report.kills} kills, ${report.actions} actions, ${report.requests} requests`)
    return report
  },
  starts: async (seed) => {
    let n = 0
    const onDeath = () => tick('start', n++)
    const report = await crashStarts({ seed, kills: Number(values.kills ?? 100), workers: 8, onDeath })
    say(
      `${report.kills} kills, ${report.deaths} starts killed, ${report.reached} before they listened; ${report.actions} actions`,
    )
    return report
  },
  'crash-points': async (seed) => {
    const choose = points === undefined ? killAtEveryCall(values.shard) : someKills(points)
    let n = 0
    const report = await injectFaults({ seed, choose, onFault: () => tick('point', n++) })
    say(`${report.faults} of ${report.calls} points, ${report.reached} reached`)
    return report
  },
  io: async (seed) => {
    let n = 0
    const onFault = () => tick('fault', n++)
    const flushes = await injectFaults({
      seed,
      choose: points === undefined ? failEveryFlush : someFaults(points, 0),
      onFault,
    })
    const writes = await injectFaults({ seed, choose: someFaults(0, points ?? 40), onFault })
    say(`${flushes.reached} flushes and ${writes.reached} writes failed`)
    return { violations: [...flushes.violations, ...writes.violations] }
  },
  damage: async (seed) => {
    let n = 0
    const onDamage = () => tick('damage', n++)
    const { violations, ...counts } = await damageFiles({ seed, flips: points ?? 50, cuts: points ?? 20, onDamage })
    say(`damaged files: ${JSON.stringify(counts)}`)
    return { violations }
  },
  migrations: async (seed) => {
    const violations: string[] = []
    for (const from of [1, 6, 13]) {
      const { violations: found, ...counts } = await crashMigrations({
        ...{ seed, from },
        ...(points === undefined ? {} : { points }),
      })
      say(`from version ${from}: ${JSON.stringify(counts)}`)
      violations.push(...found)
    }
    return { violations }
  },
  commands: async (seed) => {
    let n = 0
    const chosen = points === undefined ? {} : { points }
    const { violations, killed } = await crashCommands({ seed, ...chosen, onPoint: () => tick('command', n++) })
    say(`killed commands: ${JSON.stringify(killed)}`)
    return { violations }
  },
  clock: async (seed) => {
    const report = await runUnderJumps({ seed, kills: Number(values.kills ?? 50), workers: 16 })
    say(`${report.kills} kills and clock jumps, ${report.actions} actions`)
    return report
  },
  egress: async () => {
    const inside = join(import.meta.dirname, 'egress.ts')
    const output = execFileSync(toolPath('unshare'), ['--net', process.execPath, inside], { encoding: 'utf8' })
    const { violations, foreign, caught: _, ...counts } = JSON.parse(output)
    say(`egress: ${JSON.stringify(counts)}`)
    return { violations: [...violations, ...foreign] }
  },
  soak: async (seed) => {
    const minutes = Number(values.minutes ?? 30)
    const periodMinutes = Math.min(10, minutes / 3)
    const { violations, samples, ...report } = await soak({
      ...{ seed, minutes, sockets: 50, periodMinutes },
      onSample: (sample) => say(`soak ${JSON.stringify(sample)}`),
    })
    say(`soak, ${samples.length} samples: ${JSON.stringify(report)}`)
    return { violations }
  },
}

const tick = (what: string, n: number) => {
  if (n % 20 === 0) say(`${what} ${n}`)
}

const spreadOf = (sorted: readonly number[]) =>
  `p50 ${sorted[Math.floor(sorted.length / 2)]} ms, max ${sorted.at(-1)} ms`

if (values.help) {
  process.stdout.write(USAGE)
  process.exit(0)
}
const names = values.only?.split(',') ?? Object.keys(PARTS)
const unknown = names.filter((name) => PARTS[name] === undefined)
if (unknown.length > 0) {
  process.stderr.write(`unknown part: ${unknown.join(', ')}\n\n${USAGE}`)
  process.exit(2)
}

const end = Date.now() + Number(values.hours ?? 0) * 3_600_000
let violations = 0
for (let seed = Number(values.seed ?? Date.now() % 1_000_000); ; seed++) {
  for (const name of names) {
    say(`${name}, seed ${seed}`)
    const found = (await PARTS[name]?.(seed))?.violations ?? []
    for (const violation of found) say(`VIOLATION ${name} ${seed}: ${violation}`)
    say(`${name}: ${found.length} violations`)
    violations += found.length
  }
  if (Date.now() >= end) break
}
process.exit(violations === 0 ? 0 : 1)
