import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type Storage, type UnitOfWork, type Write } from '@perdure/ports'
import type { RunCode } from '../targets/agent.ts'
import type { RegistrationOptions } from '../targets/registration.ts'
import { agentOf, createTestEngine, type EngineOptions } from './test-engine.fixture.ts'

export const KEY = { id: 'key-1', fingerprint: 'same' }
export const RETRY = { onCrash: 'retry' } as const

/** An in-memory storage whose commits are listed by the types of their writes, and can be held or refused. */
export function watched() {
  const storage = createInMemoryStorage()
  const commits: string[] = []
  const control: { before: (writes: readonly Write[]) => Promise<void> | void } = { before: () => undefined }
  const unitOfWork: UnitOfWork = {
    async commit(writes) {
      commits.push(writes.map(({ type }) => type).join(' '))
      await control.before(writes)
      return storage.unitOfWork.commit(writes)
    },
  }
  const all: Storage = { ...storage, unitOfWork }
  return { storage: all, commits, control }
}

export function engineOf(code: RunCode, over: Partial<RegistrationOptions> = RETRY, options: EngineOptions = {}) {
  const { storage, ...rest } = watched()
  const engine = createTestEngine({ ...options, storage, agents: [agentOf('task', code, over)] })
  const runs = async () => (await storage.runs.list({}, { limit: 10, order: 'asc' }, EVERY_ROW)).items
  return { engine, runs, ...rest }
}
