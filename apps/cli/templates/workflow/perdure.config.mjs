// Configuration and workflows of this server. To start it: npm install && npm run dev
import { refund } from './workflows/refund.mjs'

/** @type {import('@perdure/server-app').PerdureConfig} */
export default {
  server: { port: 8080 },
  workflows: [refund],
}
