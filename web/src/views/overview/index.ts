import { register } from '../../registry';
import Overview from './Overview';

// The first view of a bare address: part of the first file of code, so that it takes no second request.
register({ id: 'overview', title: 'Overview', order: 10, kinds: [], load: () => Promise.resolve({ default: Overview }) });
