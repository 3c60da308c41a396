import { setup as startDatabase } from './postgres-setup.ts'

/** With E2E_STORAGE=postgres, all suites use PostgreSQL. */
export const setup = async (): Promise<() => void> =>
  process.env.E2E_STORAGE === 'postgres' ? startDatabase() : () => undefined
