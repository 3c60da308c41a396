// node --conditions=perdure-source bench/hook-timing.ts [samples]
// Measures whether the time to refuse a wrong signature depends on where it differs: for each platform, as many samples
// (default: 50,000) of a signature whose first byte is wrong as of one whose last byte is wrong, in random order. Prints
// Welch's t of the two, without the slowest tenth. The last row compares byte by byte, to show the resolution.
import { createHookVerifiers, createJwtVerifier } from '@perdure/platform-node'
import {
  requestOf,
  SAMPLES,
  type Sample,
  withHeader,
} from '../packages/platform-node/src/hooks/hook-samples.fixture.ts'

const COUNT = Number(process.argv[2] ?? 50_000)
const WARM_UP = 5_000
const KEPT = 0.9
/** Beyond this, the difference is not by chance. */
const MAX_T = 4.5
/** How many checks one sample measures: a single one is close to the resolution of the clock. */
const CHECKS = 4

interface Compared {
  readonly name: string
  readonly first: () => unknown
  readonly last: () => unknown
}

const verifiers = createHookVerifiers(createJwtVerifier())
/** Another secret in the same encoding. */
const otherThan = (secret: string) => `${secret.slice(0, -1)}${secret.endsWith('a') ? 'b' : 'a'}`

function wrongAt(sample: Sample, place: 'first' | 'last'): string {
  const [name, from, to = 0] = sample.signature
  const value = sample.headers[name] ?? ''
  // The last character before the padding has unused bits.
  const at = place === 'first' ? from : value.length + to - (to === 0 ? 1 : 2)
  return `${value.slice(0, at)}${value[at] === 'a' ? '9' : 'a'}${value.slice(at + 1)}`
}

function comparedOf(name: string, sample: Sample, secrets: readonly string[]): Compared {
  const verifier = verifiers.open({ verify: sample.verify, secrets })
  const [header] = sample.signature
  const checkOf = (place: 'first' | 'last') => {
    const request = requestOf(sample, { ...withHeader(sample, header, wrongAt(sample, place)), secrets })
    return () => verifier.verify(request)
  }
  return { name, first: checkOf('first'), last: checkOf('last') }
}

/** A comparison that ends at the first byte that differs. */
function leaking(): Compared {
  const right = Buffer.alloc(32, 7)
  const isSame = (given: Buffer) => {
    for (let at = 0; at < right.length; at++) if (given[at] !== right[at]) return false
    return true
  }
  const wrong = (at: number) => Buffer.from(right.map((byte, index) => (index === at ? byte ^ 1 : byte)))
  const [first, last] = [wrong(0), wrong(31)]
  return { name: 'byte by byte, for comparison', first: () => isSame(first), last: () => isSame(last) }
}

interface Spread {
  readonly mean: number
  readonly variance: number
  readonly count: number
}

function spreadOf(nanos: readonly number[]): Spread {
  const kept = nanos.toSorted((a, b) => a - b).slice(0, Math.floor(nanos.length * KEPT))
  const mean = kept.reduce((sum, one) => sum + one, 0) / kept.length
  const variance = kept.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (kept.length - 1)
  return { mean, variance, count: kept.length }
}

const welchT = (a: Spread, b: Spread): number =>
  (a.mean - b.mean) / Math.sqrt(a.variance / a.count + b.variance / b.count)

async function measure({ first, last }: Compared) {
  const nanos: { readonly first: number[]; readonly last: number[] } = { first: [], last: [] }
  const checks = { first, last }
  for (let round = -WARM_UP; round < COUNT; round++) {
    const order = Math.random() < 0.5 ? (['first', 'last'] as const) : (['last', 'first'] as const)
    for (const place of order) {
      const check = checks[place]
      const from = process.hrtime.bigint()
      for (let times = 0; times < CHECKS; times++) await check()
      const took = Number(process.hrtime.bigint() - from)
      if (round >= 0) nanos[place].push(took)
    }
  }
  return { first: spreadOf(nanos.first), last: spreadOf(nanos.last) }
}

const rows = [
  ...Object.entries(SAMPLES).map(([name, sample]) => comparedOf(name, sample, [sample.secret])),
  ...Object.entries(SAMPLES).map(([name, sample]) =>
    comparedOf(`${name}, two secrets`, sample, [otherThan(sample.secret), sample.secret]),
  ),
]
console.log(`${COUNT} samples each, of ${CHECKS} checks\n`)
console.log('| verifier | first byte wrong, µs | last byte wrong, µs | t | |\n|---|---|---|---|---|')
let leaks = 0
for (const compared of [...rows, leaking()]) {
  const { first, last } = await measure(compared)
  const t = welchT(first, last)
  const isLeak = Math.abs(t) > MAX_T
  if (isLeak && rows.includes(compared)) leaks += 1
  const micros = ({ mean }: Spread) => (mean / CHECKS / 1_000).toFixed(3)
  console.log(
    `| ${compared.name} | ${micros(first)} | ${micros(last)} | ${t.toFixed(2)} | ${isLeak ? 'differs' : 'no difference'} |`,
  )
}
process.exitCode = leaks === 0 ? 0 : 1
