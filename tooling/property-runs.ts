import fc from 'fast-check'
import { vi } from 'vitest'

fc.configureGlobal({ numRuns: Number(process.env.PROPERTY_RUNS) })
vi.setConfig({ testTimeout: 3_600_000 })
