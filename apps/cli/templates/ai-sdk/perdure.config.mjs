// Configuration and agents of this server. To start it: npm install && npm run dev
import { assistant } from './agents/assistant.mjs'

/** @type {import('@perdure/server-app').PerdureConfig} */
export default {
  server: { port: 8080 },
  agents: [assistant],
}
