// Configuration and agents of this server. Try it: npm install && npx perdure dev
import { assistant } from './agents/assistant.mjs'

/** @type {import('@perdure/server-app').PerdureConfig} */
export default {
  server: { port: 8080 },
  agents: [assistant],
}
