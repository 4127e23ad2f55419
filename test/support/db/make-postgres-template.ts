/** A program: makes a database that is up to date on the PostgreSQL server of the tests, and prints its name. */
import { makePostgresTemplate } from './databases.ts';

console.log(await makePostgresTemplate({ after: () => undefined })); // it goes with its server
