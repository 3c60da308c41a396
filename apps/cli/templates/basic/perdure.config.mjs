// Configuration and agents of this server. To start it: npm install && npm run dev
import { echo } from './agents/echo.mjs'

/** @type {import('@perdure/server-app').PerdureConfig} */
export default {
  server: { port: 8080 },
  agents: [echo],
}
