/** Prints the Debian packages of the tools that this machine lacks, for `.ci/run`. */
import { missingPackages } from './machine-tools.ts'

process.stdout.write(missingPackages().join(' '))
