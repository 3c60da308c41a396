import { setSourceMapsSupport } from 'node:module'

/**
 * Makes the stacks of errors show locations in the sources instead of the compiled files. Applies to modules that are
 * loaded later, except those in `node_modules`.
 */
export const useSourceMaps = (): void => setSourceMapsSupport(true, { nodeModules: false, generatedCode: false })
