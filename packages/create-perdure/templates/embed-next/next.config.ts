import type { NextConfig } from 'next'

/** Perdure loads native code and starts threads, so it is not bundled. */
const config: NextConfig = { serverExternalPackages: ['perdure'] }

export default config
