import { defineConfig } from 'perdure'
import { assess } from './agents/assess.ts'
import { refund } from './workflows/refund.ts'

export default defineConfig({
  server: { port: 8080 },
  agents: [assess],
  workflows: [refund],
})
