import type { Storage } from '@perdure/ports'
import {
  eventLogContract,
  fileStoreContract,
  fireStoreContract,
  idempotencyStoreContract,
  jobQueueContract,
  laneStoreContract,
  runStoreContract,
  stepStoreContract,
  tokenStoreContract,
  triggerStoreContract,
  unitOfWorkContract,
  webhookStoreContract,
} from '@perdure/testkit'
import { needsTool } from '../../../tooling/needed-tool.ts'
import { createTestSchema } from './test-schema.fixture.ts'

/** One storage whose calls go to two processes by turns. */
function alternating(processes: readonly Storage[]): Storage {
  let calls = 0
  const next = () => processes[calls++ % processes.length] as Storage
  const ports = Object.keys(processes[0] ?? {}).map((port) => {
    const methods = new Proxy({}, { get: (_, method) => Reflect.get(Reflect.get(next(), port), method) })
    return [port, methods]
  })
  return {
    ...Object.fromEntries(ports),
    status: () => next().status(),
    close: async () => void (await Promise.all(processes.map((storage) => storage.close()))),
  }
}

needsTool('PostgreSQL').describe('two processes on a PostgreSQL server', () => {
  const schema = createTestSchema()

  const harness = {
    name: 'PostgreSQL, by turns through two processes',
    processes: 2,
    open: async () => alternating([await schema.reuse(), await schema.reuse({ keepRows: true, isGuest: true })]),
    close: async () => undefined,
  }
  // The ports whose rows two processes change at the same time.
  for (const contract of [
    eventLogContract,
    fileStoreContract,
    fireStoreContract,
    idempotencyStoreContract,
    jobQueueContract,
    laneStoreContract,
    runStoreContract,
    stepStoreContract,
    tokenStoreContract,
    triggerStoreContract,
    unitOfWorkContract,
    webhookStoreContract,
  ]) {
    contract(harness)
  }
})
