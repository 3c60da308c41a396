import { generateKeyPairSync, verify as verifySignature } from 'node:crypto'
import { createJwtVerifier } from '@perdure/platform-node'
import { forgeJwt } from '@perdure/testkit'
import { type Cores, coresOf } from '../harness/cores.ts'
import { JSON_HEADERS, RUN, startShipped } from '../harness/perdure.ts'
import { alternate, type Comparison } from '../harness/rounds.ts'
import { inFolder } from '../harness/server-process.ts'
import type { BenchCase, Effort } from './bench-case.ts'
import { compared, measuring, warmUpRuns } from './shipped-runs.ts'

const CONNECTIONS = [1, 64] as const
const VERIFICATIONS = 2_000
/** A server verifies with optimized code: V8 takes about 10,000 verifications until its code no longer changes. */
const WARM_UPS = 8
const ISSUER = { issuer: 'https://bench.test', audience: 'perdure', algorithms: ['EdDSA'] }
/** The time of the server's thread that a verification may take. */
const BUDGET_MICROS = 60

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()

function jwtFor(sub: string): string {
  const iat = Math.floor(Date.now() / 1_000)
  return forgeJwt({
    claims: { iss: ISSUER.issuer, aud: ISSUER.audience, sub, iat, exp: iat + 86_400 },
    key: privateKey,
  })
}

/** Keyed runs of one user with a JWT, against the same server with a token. */
const againstToken = (effort: Effort, cores: Cores): Promise<readonly Comparison[]> =>
  inFolder(async (folder) => {
    const { server, headers } = await startShipped({ folder, env: { BENCH_JWT_KEY: pem }, cpus: cores.server })
    const form = { server, path: RUN, cores, randomKeys: true }
    const withToken = measuring({ ...form, headers }, effort)
    const withJwt = measuring(
      { ...form, headers: { ...JSON_HEADERS, Authorization: `Bearer ${jwtFor('alice')}` } },
      effort,
    )
    const rows: Comparison[] = []
    try {
      for (const measured of [withToken, withJwt]) await measured.warmUp(warmUpRuns(effort))
      for (const connections of CONNECTIONS) {
        const figures = await compared(effort, withToken, withJwt, connections)
        const variant = `${cores.count === 1 ? 'one core' : 'two cores'}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`
        rows.push({ case: 'F21', variant, unit: 'runs/s', ...figures, goal: { atLeast: 0.9 } })
      }
    } finally {
      await server.stop()
    }
    return rows
  })

/** The first verification of each JWT, in the time that `clock` reads: of this thread or of the whole process. */
async function verificationMicros(clock: Clock, sequential: boolean): Promise<number> {
  const rules = { ...ISSUER, audience: [ISSUER.audience], clockToleranceSeconds: 5 }
  const verify = createJwtVerifier().open(rules, { bytes: new TextEncoder().encode(pem) })
  const jwts = Array.from({ length: VERIFICATIONS }, (_, index) => jwtFor(`user-${index}`))
  const verifyOne = async (jwt: string) => {
    const { kind } = await verify(jwt, Date.now())
    if (kind !== 'verified') throw new Error(`a JWT is ${kind}`)
  }
  const measure = () =>
    microsOfEach(clock, async () => {
      if (sequential) for (const jwt of jwts) await verifyOne(jwt)
      else await Promise.all(jwts.map(verifyOne))
    })
  for (let round = 0; round < WARM_UPS; round++) await measure()
  return measure()
}

/** Only the signatures, by the function of Node.js: no verification can take less. */
function signatureMicros(): Promise<number> {
  const signed = Array.from({ length: VERIFICATIONS }, (_, index) => {
    const jwt = jwtFor(`user-${index}`)
    const end = jwt.lastIndexOf('.')
    return { bytes: Buffer.from(jwt.slice(0, end)), signature: Buffer.from(jwt.slice(end + 1), 'base64url') }
  })
  return microsOfEach('process', async () => {
    for (const { bytes, signature } of signed)
      if (!verifySignature(null, bytes, publicKey, signature)) throw new Error('a signature is wrong')
  })
}

type Clock = 'thread' | 'process'

async function microsOfEach(clock: Clock, work: () => Promise<void>): Promise<number> {
  const read = (before?: NodeJS.CpuUsage) =>
    clock === 'thread' ? process.threadCpuUsage(before) : process.cpuUsage(before)
  const before = read()
  await work()
  const { user, system } = read(before)
  return (user + system) / VERIFICATIONS
}

async function verifications({ rounds }: Effort): Promise<readonly Comparison[]> {
  const rows: Comparison[] = []
  for (const [order, sequential] of [
    ['one after another', true],
    ['many at once', false],
  ] as const) {
    const variant = `first verification, ${order}`
    const ofThread = {
      floor: async () => BUDGET_MICROS,
      subject: () => verificationMicros('thread', sequential),
    }
    const ofProcess = { floor: signatureMicros, subject: () => verificationMicros('process', sequential) }
    rows.push(
      {
        ...{ case: 'F21', variant, unit: 'thread µs', goal: { atMost: 1 }, note: 'floor: the budget' },
        ...(await alternate(rounds, ofThread)),
      },
      {
        ...{ case: 'F21', variant: `${variant}, all threads`, unit: 'µs', goal: { atMost: 1.5 } },
        ...(await alternate(rounds, ofProcess)),
        note: 'floor: only the signature',
      },
    )
  }
  return rows
}

export const jwtRuns: BenchCase = {
  id: 'F21',
  title: 'keyed runs as shipped with a JWT; its floor is the same server with a token',
  async run(effort) {
    const rows = [...(await verifications(effort))]
    for (const cores of [coresOf(1), coresOf(2)]) rows.push(...(await againstToken(effort, cores)))
    return rows
  },
}
